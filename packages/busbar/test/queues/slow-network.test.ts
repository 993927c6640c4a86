/** Large items that come to the host that runs them over a slow network to NATS. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { ConsumerWait } from '../../src/queue/streams/consumer-wait.ts'
import type { ItemStreams } from '../../src/queue/streams/item-streams.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { fair, FaultProxy } from '../hosts/support/fault-proxy.ts'
import { programs, QueueApp, quick } from './support.ts'

const clusterAt = (port: number): object => ({ nats: `nats://127.0.0.1:${port}`, name: 'shop' })

/** Enqueues, and runs nothing. */
async function startShop(port: number): Promise<QueueApp> {
  const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
  return await QueueApp.start({ queues: quick, cluster: clusterAt(port), services })
}

async function startPost(port: number): Promise<QueueApp> {
  const services = { mail: `${programs}/mail` }
  return await QueueApp.start({ queues: quick, cluster: clusterAt(port), gateway: { port: 0 }, services })
}

describe('a host that is behind a slow network', { skip: withoutNats }, () => {
  it('runs an item that takes longer to arrive than a host may be silent, once', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using shop = await startShop(nats.port)
    await using post = await startPost(proxy.port)
    await shop.mail.send.enqueue({ to: 'first' })
    await post.untilLogged('sent first')
    proxy.weather = { delay: 50, rate: 90_000 }
    const large = (to: string): object => ({ to, more: 'x'.repeat(900_000) })
    const { id } = await shop.mail.send.enqueue(large('ada') as { to: string })
    await post.untilLogged('sent ada')
    const late = /queue mail\.send: item \S+ of 9\d{5} bytes took \d+ s from NATS to this host, whose network is slow/
    assert.equal(post.logged(late).length, 1)
    assert.ok(post.logged(late)[0]!.includes(id))
    // The next one has the time that it needs.
    await shop.mail.send.enqueue(large('bob') as { to: string })
    await post.untilLogged('sent bob')
    assert.equal(post.logged(late).length, 1)
    assert.deepEqual(
      post.logged(/sent (ada|bob)/).map((line) => /"attempt":(\d+)/.exec(line)?.[1]),
      ['1', '1'],
    )
    assert.deepEqual(post.logged('NATS at'), [])
    proxy.weather = fair
  })
})

/** A server that has one consumer. */
function fakeStreams(consumer: { ack_wait: number }) {
  const changes: number[] = []
  const info = async () => ({ config: { ...consumer }, num_waiting: 1, num_ack_pending: 1 })
  const update = async (_stream: string, _name: string, change: { ack_wait: number }) => {
    changes.push(change.ack_wait / 1e9)
    consumer.ack_wait = change.ack_wait
  }
  const streams = {
    nameOf: () => 'ready',
    watchWait: () => {},
    client: { consumers: { get: async () => ({ info }) } },
    manager: { consumers: { update } },
    aside: async (work: (manager: object) => Promise<unknown>) => await work({ consumers: { info, update } }),
  }
  return { streams: streams as unknown as ItemStreams, changes }
}

test('a message has the longer wait of its consumer only if it was not sent to another host before', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const consumer = { ack_wait: 10e9 }
  const { streams, changes } = fakeStreams(consumer)
  const wait = new ConsumerWait(streams, 'ready', 'mail=send')
  await wait.open({})
  assert.equal(wait.of(now), 10_000)
  now = 20_000
  assert.equal(await wait.raise(24_000), true)
  // It had been sent to another host before, or had not.
  assert.deepEqual(
    [9_000, 11_000, 21_000].map((sentAt) => wait.of(sentAt)),
    [10_000, 24_000, 24_000],
  )
  now = 40_000
  assert.equal(await wait.raise(60_000), true)
  assert.deepEqual(
    [9_000, 29_000, 31_000].map((sentAt) => wait.of(sentAt)),
    [10_000, 24_000, 60_000],
  )
  assert.equal(await wait.raise(30_000), false)
  assert.deepEqual(changes, [24, 60])
})

test('a host does not shorten the wait that another one has raised', async () => {
  const { streams, changes } = fakeStreams({ ack_wait: 60e9 })
  const wait = new ConsumerWait(streams, 'ready', 'mail=send')
  assert.equal(await wait.raise(24_000), false)
  await wait.open({})
  assert.deepEqual(changes, [])
})
