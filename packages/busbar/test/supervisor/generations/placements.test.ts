import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangingApp } from './changing-app.ts'

const thread = { run: 'thread' }

test('a service moves between shared, thread and process while it is called', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread })
  let isOver = false
  const failures: unknown[] = []
  const calling = (async () => {
    while (!isOver) await app.ask('cart').catch((error: unknown) => failures.push(error))
  })()
  const { running } = app.app
  const kindOf = (): unknown => running.workers.find(({ hosts }) => hosts.some(({ name }) => name === 'cart'))!.kind
  for (const run of ['shared', 'process', 'thread', 'process', 'shared', 'thread'] as const) {
    await running.move('cart', { run })
    assert.equal(kindOf(), run)
  }
  isOver = true
  await calling
  assert.deepEqual(failures, [])
})

test('scaling adds and removes instances and leaves the others as they are', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread })
  const { running } = app.app
  const instances = (): number =>
    running.workers.filter(({ hosts }) => hosts.some(({ name }) => name === 'cart')).length
  const first = await app.ask('cart')
  await running.scale('cart', 3)
  assert.equal(instances(), 3)
  const seen = await Promise.all(Array.from({ length: 30 }, async () => (await app.ask('cart')).id))
  assert.ok(seen.includes(first.id))
  assert.ok(new Set(seen).size > 1)
  await running.scale('cart', '-1')
  assert.equal(instances(), 2)
  await running.scale('cart', 1)
  assert.deepEqual(await app.ask('cart'), first)
  await running.move('cart', { run: 'process', instances: 2 })
  assert.equal(instances(), 2)
})

test('scaling a shared service changes the number of shared workers', async () => {
  await using app = await ChangingApp.start({ web: { run: 'shared' }, cart: thread })
  const { running } = app.app
  await running.scale('web', '+2')
  assert.equal(running.workers.filter(({ kind }) => kind === 'shared').length, 3)
  assert.ok((await app.ask('cart')).id !== undefined)
})

test('a placement that was chosen stays through a reload', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread })
  const { running } = app.app
  await running.move('cart', { run: 'process' })
  await running.reload()
  assert.notEqual((await app.ask('cart')).pid, process.pid)
})

test('what cannot be is refused with the reason', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: { ...thread, group: 'checkout' } })
  const { running } = app.app
  await assert.rejects(running.scale('card', 2), { code: 'SERVICE_UNKNOWN', hint: /cart/ })
  await assert.rejects(running.scale('cart', 0), { code: 'INPUT_INVALID' })
  await assert.rejects(running.scale('cart', '-1'), { code: 'INPUT_INVALID' })
  await assert.rejects(running.move('cart', { run: 'process' }), { code: 'OPERATION_UNSUPPORTED', message: /group/ })
  await assert.rejects(running.scale('cart', 1000), { code: 'RESTART_NEEDED' })
  assert.ok((await app.ask('cart')).id !== undefined)
})
