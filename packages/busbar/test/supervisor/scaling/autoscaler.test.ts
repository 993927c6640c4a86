import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pollUntil } from '../../support/app/test-app.ts'
import { ChangingApp } from '../generations/changing-app.ts'

const instancesOf = ({ app: { running } }: ChangingApp): number =>
  running.workers.filter(({ hosts, state }) => state === 'serving' && hosts.some(({ name }) => name === 'cart')).length

test('instances follow the load within their range, and a reload keeps their number', async () => {
  const cart = { run: 'thread', concurrency: 1, instances: { min: 1, max: 3 } }
  await using app = await ChangingApp.start({ web: { run: 'thread' }, cart }, {}, { timing: { scale: 20 } })
  assert.equal(instancesOf(app), 1)
  let isOver = false
  const failures: string[] = []
  const client = async (): Promise<void> => {
    while (!isOver) {
      const answer = await app.get('/call/cart/later/20')
      if (!answer.ok) failures.push(await answer.text())
      else await answer.text()
    }
  }
  const clients = Array.from({ length: 12 }, client)
  await pollUntil(() => instancesOf(app) === 3)
  await app.app.untilLogged("service 'cart' scales from 1 to 2 instances: event loops")
  await app.app.running.reload('web')
  assert.equal(app.app.running.app.services.find(({ name }) => name === 'cart')!.instances, 3)
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(failures, [])
  await pollUntil(() => instancesOf(app) === 1)
})

test('a number that was chosen by hand ends scaling by load', async () => {
  const cart = { run: 'thread', instances: { min: 1, max: 2 } }
  await using app = await ChangingApp.start({ web: { run: 'thread' }, cart })
  await app.app.running.scale('cart', 2)
  const { instances, scaling } = app.app.running.app.services.find(({ name }) => name === 'cart')!
  assert.deepEqual([instances, scaling], [2, undefined])
})
