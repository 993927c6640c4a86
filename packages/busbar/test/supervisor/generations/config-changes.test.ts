import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangingApp } from './changing-app.ts'

const thread = { run: 'thread' }

test('a changed service restarts alone', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread, stock: { run: 'process' } })
  const before = await Promise.all([app.get('/').then((answer) => answer.json()), app.ask('cart'), app.ask('stock')])
  app.write({ web: thread, cart: { ...thread, env: { MODE: 'new' } }, stock: { run: 'process' } })
  await app.app.running.reload('cart')
  const after = await Promise.all([app.get('/').then((answer) => answer.json()), app.ask('cart'), app.ask('stock')])
  assert.deepEqual([after[0], after[2]], [before[0], before[2]])
  assert.equal(after[1].mode, 'new')
})

for (const run of ['thread', 'process'])
  test(`a service that appears in a ${run} is called by those that stay, and one that goes is not known any more`, async () => {
    await using app = await ChangingApp.start({ web: thread, cart: thread })
    const before = await app.get('/').then((answer) => answer.json())
    app.write({ web: thread, stock: { run } })
    await app.app.running.replace(await app.load(), [])
    assert.ok((await app.ask('stock')).id !== undefined)
    await assert.rejects(app.ask('cart'), /cart\.internal/)
    assert.deepEqual(await app.get('/').then((answer) => answer.json()), before)
    app.write({ web: thread, cart: { ...thread, concurrency: 2 }, stock: { run } })
    await app.app.running.replace(await app.load(), [])
    assert.ok((await app.ask('cart')).id !== undefined)
  })

test('a limit applies from the change on, to callers that stay, too', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: { ...thread, concurrency: 8 } })
  await app.ask('cart')
  app.write({ web: thread, cart: { ...thread, concurrency: 1, queue: 0 } })
  await app.app.running.replace(await app.load(), [])
  const answers = await Promise.allSettled([app.ask('cart'), app.ask('cart'), app.ask('cart'), app.ask('cart')])
  assert.ok(answers.some(({ status }) => status === 'fulfilled'))
  app.write({ web: thread, cart: thread })
  await app.app.running.replace(await app.load(), [])
  await Promise.all([app.ask('cart'), app.ask('cart'), app.ask('cart'), app.ask('cart')])
})

test('routes and ports appear and go', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread })
  const gateway = { port: 0, entry: 'web', routes: { '/cart': 'cart' } }
  app.write({ web: thread, cart: { ...thread, expose: 0 } }, { gateway })
  await app.app.running.reload('cart')
  const cart = await app.ask('cart')
  assert.deepEqual(await app.get('/cart').then((answer) => answer.json()), cart)
  const port = app.app.running.addresses.find(({ id }) => id === 'expose:cart')!.url
  assert.deepEqual(await (await fetch(port, { headers: { connection: 'close' } })).json(), cart)
  app.write({ web: thread, cart: thread })
  await app.app.running.reload('cart')
  assert.notEqual(await (await app.get('/cart')).text(), JSON.stringify(await app.ask('cart')))
  await assert.rejects(fetch(port))
})

test('a port that is open is not moved: only a restart can', async () => {
  const other = { host: '::1', port: 0 }
  await using app = await ChangingApp.start({ web: thread, cart: { ...thread, expose: 0 } })
  app.write({ web: thread, cart: { ...thread, expose: other } })
  const message = 'only a restart of the whole app can change services.cart.expose'
  await assert.rejects(app.app.running.reload(), { code: 'RESTART_NEEDED', message })
})

test('another service becomes the entry that gets raw connections', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread, stock: thread })
  app.write({ web: thread, cart: thread, stock: thread }, { gateway: { port: 0, entry: 'cart' } })
  await app.app.running.reload('stock')
  const answer = (await (await app.get('/')).json()) as { id: string }
  assert.equal((await app.ask('cart')).id, answer.id)
})

test('what only a restart can change is said before anything changes', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread })
  const before = await app.ask('cart')
  app.write({ web: thread, cart: { ...thread, env: { MODE: 'new' } } }, { gateway: { port: 1, entry: 'web' } })
  await assert.rejects(app.app.running.reload(), {
    code: 'RESTART_NEEDED',
    message: 'only a restart of the whole app can change gateway.port',
  })
  assert.deepEqual(await app.ask('cart'), before)
})

test('a generation of which one worker does not start is discarded as a whole', async () => {
  await using app = await ChangingApp.start({ web: thread, cart: thread, stock: { run: 'process' } })
  const before = await Promise.all([app.ask('cart'), app.ask('stock')])
  app.write({ web: thread, cart: thread, stock: { run: 'process' }, late: { ...thread, path: './broken.mjs' } })
  await assert.rejects(app.app.running.reload(), { code: 'PROGRAM_THREW', service: 'late' })
  // The stack is nowhere else in an app that goes on.
  await app.app.untilLogged('broken.mjs:1:')
  assert.deepEqual(await Promise.all([app.ask('cart'), app.ask('stock')]), before)
  await assert.rejects(app.ask('late'))
  app.write({ web: thread, cart: thread, stock: { run: 'process' } })
  await app.app.running.reload()
  assert.notEqual((await app.ask('cart')).id, before[0].id)
})
