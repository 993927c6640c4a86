/** Large items that come to the host that runs them over a slow network to NATS. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { ConsumerWait } from '../../src/queue/streams/consumers/consumer-wait.ts'
import { encodeItem } from '../../src/queue/streams/item-message.ts'
import type { ItemStreams } from '../../src/queue/streams/item-streams.ts'
import { LateItems } from '../../src/queue/streams/consumers/late-items.ts'
import { NetworkPace } from '../../src/queue/streams/network-pace.ts'
import { RepeatedLines } from '../../src/shared/output/repeated-lines.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
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
    const late = (id: string): string[] =>
      post
        .logged(`item ${id} of 900`)
        .filter((line) => /took \d+ s from NATS to this host, whose network is slow/.test(line))
    const enqueue = async (to: string): Promise<string> => {
      const input = { to, more: 'x'.repeat(900_000) }
      return (await shop.mail.send.enqueue(input)).id
    }
    const first = await enqueue('ada')
    await post.untilLogged('sent ada')
    assert.equal(late(first).length, 1)
    // The next one has the time that it needs.
    const next = await enqueue('bob')
    await post.untilLogged('sent bob')
    assert.deepEqual(late(next), [])
    assert.deepEqual(
      post.logged(/sent (ada|bob)/).map((line) => /"attempt":(\d+)/.exec(line)?.[1]),
      ['1', '1'],
    )
    assert.deepEqual(post.logged('NATS at'), [])
    proxy.weather = fair
  })
})

test('a server that stands still while it sends items is no slow network', { skip: withoutNats }, async () => {
  await using nats = await NatsServer.startWithJetStream()
  await using shop = await startShop(nats.port)
  await using post = await startPost(nats.port)
  let count = 0
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const to = `no${++count}`
      await shop.mail.send.enqueue({ to, more: 'x'.repeat(200_000) } as { to: string }).catch(() => {})
    }
  }
  const lanes = Promise.all([lane(), lane(), lane(), lane()])
  await post.untilLogged('sent no', 40)
  nats.freeze()
  await sleep(6_000)
  nats.thaw()
  const before = post.logged('sent no').length
  await post.untilLogged('sent no', before + 40)
  isOver = true
  await lanes
  await pollUntil(() => post.counts.waiting === 0 && post.counts.running === 0)
  // By then the server has answered an order for more time.
  await sleep(1_000)
  assert.deepEqual([...post.logged('is slow'), ...shop.logged('is slow')], [])
  const connection = await nats.connect()
  const { consumers } = await jetstreamManager(connection)
  const waits = (await consumers.list('busbar_shop_queue_ready').next()).map(({ config }) => config.ack_wait)
  await connection.close()
  assert.deepEqual(waits, [10e9])
})

/** A server that has one consumer, as a host sees it. */
function fakeStreams(consumer: { ack_wait: number; description?: string }) {
  const changes: (number | string)[] = []
  let see = (_config: object, _askedAt: number): void => {}
  const info = async () => ({ config: { ...consumer }, num_waiting: 1, num_ack_pending: 1 })
  const update = async (_stream: string, _name: string, change: Partial<typeof consumer>) => {
    if (change.ack_wait !== undefined) changes.push(change.ack_wait / 1e9)
    else changes.push(change.description === '' ? 'is kept' : 'ends')
    Object.assign(consumer, change)
  }
  const work = async (with_: (manager: object) => Promise<unknown>) => await with_({ consumers: { info, update } })
  const streams = {
    nameOf: () => 'ready',
    watchWait: (_: string, learn: typeof see) => (see = learn),
    client: { consumers: { get: async () => ({ info }) } },
    manager: { consumers: { update } },
    aside: work,
    look: work,
  }
  /** What each host asks every two seconds. */
  const look = async (): Promise<void> => {
    see({ ...consumer }, performance.now())
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { streams: streams as unknown as ItemStreams, changes, look }
}

function newWait(streams: ItemStreams, pace = new NetworkPace()): ConsumerWait {
  return new ConsumerWait({ streams, stream: 'ready', name: 'mail=send', pace })
}

test('a message has the longer wait of its consumer only if it was not sent to another host before', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const consumer = { ack_wait: 10e9 }
  const { streams, changes } = fakeStreams(consumer)
  const wait = newWait(streams)
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
    [9_000, 14_000, 29_000, 31_000].map((sentAt) => wait.of(sentAt)),
    [10_000, 24_000, 60_000, 60_000],
  )
  assert.equal(await wait.raise(30_000), false)
  assert.deepEqual(changes, [24, 60])
})

test('a host does not shorten the wait that another one has raised', async () => {
  const { streams, changes } = fakeStreams({ ack_wait: 60e9 })
  const wait = newWait(streams)
  assert.equal(await wait.raise(24_000), false)
  await wait.open({})
  assert.deepEqual(changes, [])
})

/** Milliseconds. */
const minute = 60_000

test('a raised wait is shortened when no network has been slow for long, and no host relies on it then', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const server = { ack_wait: 10e9 }
  const pace = new NetworkPace()
  const [slow, other] = [fakeStreams(server), fakeStreams(server)]
  const [wait, its] = [newWait(slow.streams, pace), newWait(other.streams)]
  pace.wasSlow(9_000)
  await wait.raise(90_000)
  const until = async (end: number, hosts = [slow, other]): Promise<void> => {
    for (; now < end; now += 2_000) for (const host of hosts) await host.look()
  }
  // While a network is slow, what the other host begins is taken back.
  await until(9 * minute)
  assert.deepEqual(other.changes.slice(0, 2), ['ends', 'ends'])
  assert.deepEqual(slow.changes.slice(0, 3), [90, 'is kept', 'is kept'])
  assert.equal(server.ack_wait, 90e9)
  // The slow host is cut off. It does not rely on what it knew when the other one shortens it.
  assert.equal(wait.of(now - 20_000), 90_000)
  const cutOffAt = now
  while (server.ack_wait > 10e9) await until(now + 2_000, [other])
  assert.equal(its.last, 10_000)
  assert.ok(now - cutOffAt > 5 * minute)
  assert.equal(wait.of(now - 20_000), 10_000)
})

for (const [what, isSlow, age, expected] of [
  ['that waited for a host which was paused', false, 20_000, /was read 20 s after NATS had sent it, and another host/],
  ['that came slowly', true, 20_000, /took 20 s .*network is slow\. Items of mail\.send may take 200 s from now on/],
  ['that came too slowly', true, 400_000, /took 400 s .*may take 300 s, and does not run here\. Keep large inputs/],
] as const)
  test(`the log says of an item ${what} what follows`, async (t) => {
    t.mock.method(performance, 'now', () => age)
    const raised: number[] = []
    const lines: string[] = []
    const repeated = new RepeatedLines((_, line) => void lines.push(line))
    const late = new LateItems({
      streams: { pings: { isSlow: () => isSlow }, targetOf: () => 'mail.send' } as unknown as ItemStreams,
      stream: 'ready',
      subject: 'any',
      wait: {
        last: 10_000,
        raised: undefined,
        raise: async (wait: number) => raised.push(wait) > 0,
      } as unknown as ConsumerWait,
      pace: new NetworkPace(),
      lines: repeated,
    })
    const origin = { caller: undefined, trace: undefined, metadata: undefined }
    const data = encodeItem({ id: 'a', added: 0, due: 0, attempts: 0, origin, input: '1' })
    await late.raise({ message: { data, subject: 'any' }, heldAt: 0 })
    repeated.close()
    assert.match(lines[0]!, expected)
    assert.match(lines[0]!, new RegExp(`item a of ${data.length} bytes`))
    assert.deepEqual(raised, isSlow ? [Math.min(300_000, 10 * age)] : [])
  })

test('items get more time before they have come, and the log says so and names one of them', async () => {
  const raised: number[] = []
  const lines: string[] = []
  const wait = {
    last: 10_000,
    isRaising: false,
    raise: async (next: number) => (raised.push(next), (wait.last = next), true),
  }
  const late = new LateItems({
    streams: { targetOf: () => 'mail.send' } as unknown as ItemStreams,
    stream: 'ready',
    subject: 'any',
    wait: wait as unknown as ConsumerWait,
    pace: new NetworkPace(),
    lines: new RepeatedLines((_, line) => void lines.push(line)),
  })
  for (const lateness of [1_000, 3_000, 4_000, 11_000, 14_000, 50_000, 200_000]) await late.expect(lateness)
  assert.deepEqual(raised, [40_000, 140_000, 300_000])
  assert.match(lines[0]!, /on its way for 4 s: the network is slow\. Items of mail\.send may take 40 s from now on/)
  const message = { data: Buffer.from('{}\n'), subject: 'any' }
  for (let at = 0; at < 2; at++) late.hasCome({ message, heldAt: performance.now() - 9_000 })
  assert.match(lines.at(-1)!, /item .* took 9 s from NATS to this host, whose network is slow$/)
  assert.equal(lines.filter((line) => line.includes('took')).length, 1)
})
