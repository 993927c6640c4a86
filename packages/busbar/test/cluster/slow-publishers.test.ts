/** What is published over a slow network to NATS: events, and items of the queue. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { PacedPublisher } from '../../src/mesh/cluster/paced-publisher.ts'
import { EventsApp } from '../events/support.ts'
import { fair, FaultProxy } from '../hosts/support/fault-proxy.ts'
import { programs, QueueApp, quick } from '../queues/support.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const slow = { delay: 200, rate: 100_000 }
const clusterAt = (port: number): object => ({ nats: `nats://127.0.0.1:${port}`, name: 'shop' })

describe('over a slow network to NATS', { skip: withoutNats }, () => {
  it('large events arrive, in their order, and cost no connection', async () => {
    await using nats = await NatsServer.start()
    await using proxy = await FaultProxy.open(nats.port)
    await using post = await EventsApp.start({ mail: { run: 'shared' } }, { cluster: clusterAt(nats.port) })
    await using shop = await EventsApp.start({}, { cluster: clusterAt(proxy.port) })
    // Subscriptions reach the server a moment after their app is ready.
    while (post.logged(/welcome (1) /).length === 0) {
      await shop.ask('broadcast/placed/1')
      await sleep(20)
    }
    await shop.ask('opens')
    proxy.weather = slow
    for (let id = 1; id <= 5; id++) await shop.ask(`emit/heavy/${id}`)
    assert.deepEqual(await post.untilLogged(/bill (\d+) by/, 5), ['1', '2', '3', '4', '5'])
    assert.deepEqual(shop.logged(/(NATS at .*|did not get .*)/), [])
    proxy.weather = fair
  })

  it('a large item is enqueued, however long that takes', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
    await using shop = await QueueApp.start({ queues: quick, cluster: clusterAt(proxy.port), services })
    await using post = await QueueApp.start({
      queues: quick,
      cluster: clusterAt(nats.port),
      gateway: { port: 0 },
      services: { mail: `${programs}/mail` },
    })
    proxy.weather = slow
    const item = { to: 'ada', more: 'x'.repeat(900_000) }
    const added = await Promise.all([shop.mail.send.enqueue(item), shop.mail.send.enqueue({ to: 'bob' })])
    assert.deepEqual(
      added.map(({ duplicate }) => duplicate),
      [false, false],
    )
    await post.untilLogged('sent ada')
    await post.untilLogged('sent bob')
    assert.deepEqual(shop.logged('NATS at'), [])
    proxy.weather = fair
  })
})

test('messages wait while the server owes pongs, keep their order, and are given to a client that closes', async (t) => {
  t.mock.method(performance, 'now', () => 0)
  const pongs: (() => void)[] = []
  const sent: number[] = []
  const publisher = new PacedPublisher({ flush: () => new Promise((resolve) => pongs.push(resolve)) })
  const size = 100 * 1024
  const send = (number: number): void => publisher.send(size, () => sent.push(number))
  for (let number = 1; number <= 8; number++) send(number)
  assert.deepEqual([sent, publisher.waiting], [[1, 2, 3], 5 * size])
  assert.ok(publisher.transitTime > 1_000)
  pongs.shift()!()
  await turn()
  assert.deepEqual(sent, [1, 2, 3, 4, 5])
  publisher.release()
  send(9)
  assert.deepEqual([sent, publisher.waiting], [[1, 2, 3, 4, 5, 6, 7, 8, 9], 0])
})
