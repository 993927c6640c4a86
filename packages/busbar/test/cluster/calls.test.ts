import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { safe } from '../../src/contract/client-entry.ts'
import { Shop } from '../hosts/support/shop.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

describe('a typed service of the cluster', { skip: withoutNats }, () => {
  let nats: NatsServer
  before(async () => (nats = await NatsServer.start()))
  after(() => nats[Symbol.asyncDispose]())

  it('answers calls, with its declared errors', async () => {
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const input = { list: [1, 2], bytes: new Uint8Array(5000).fill(7), at: new Date(5) }
    assert.deepEqual(await caller.shop.write(input), { at: 'far', input })
    const [error] = await safe(caller.shop.fails(1))
    assert.deepEqual([error?.code, error?.data], ['SOLD_OUT', { left: 0 }])
  })

  it('streams values, as fast as they are read', async () => {
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const seen: number[] = []
    for await (const tick of caller.shop.ticks(100)) seen.push(tick)
    assert.equal(seen.length, 100)
  })

  it('learns that its caller has cancelled, or has no more time', async () => {
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    host.shop.delay = Infinity
    const abort = new AbortController()
    const cancelled = safe(caller.shop.write(1, { signal: abort.signal }))
    await host.shop.began()
    abort.abort()
    assert.equal((await cancelled)[0]?.code, 'CALL_ABORTED')
    const [late] = await safe(caller.shop.write(2, { timeout: 50 }))
    assert.equal(late?.code, 'DEADLINE_EXCEEDED')
    while (host.shop.aborted.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    assert.deepEqual(host.shop.aborted, ['CALL_ABORTED', 'DEADLINE_EXCEEDED'])
  })

  it('is called at the less loaded of two hosts', async () => {
    await using slow = await ClusterShop.start(new Shop('slow'), nats.config())
    await using quick = await ClusterShop.start(new Shop('quick'), nats.config())
    await using caller = await ClusterCaller.open(nats.config(), 2)
    slow.shop.delay = 100
    quick.shop.delay = 1
    const each = async (): Promise<void> => {
      for (let at = 0; at < 20; at++) await caller.shop.write(at)
    }
    await Promise.all([each(), each(), each(), each()])
    const counts = [slow, quick].map(({ shop }) => shop.done.length)
    assert.equal(counts[0]! + counts[1]!, 80)
    assert.ok(counts[0]! * 2 < counts[1]!, `${counts[0]} of 80 calls went to the slow host`)
  })

  it('has a worker that takes links when it says so', async () => {
    const tool = await nats.connect()
    await using host = await ClusterShop.start(new Shop('far'), nats.config(), undefined, false)
    await host.accept()
    // Rejects if nobody is there. A request without a hello is answered, too.
    await tool.request(`busbar.test.dial.${host.host}`)
    await tool.close()
  })

  it('is linked without a warning if its host announces itself a moment before it takes links', async () => {
    await using host = await ClusterShop.start(new Shop('far'), nats.config(), undefined, false)
    const opening = ClusterCaller.open(nats.config())
    await new Promise((resolve) => setTimeout(resolve, 150))
    await host.accept()
    await using caller = await opening
    assert.deepEqual(caller.log, [])
  })

  it('is found when its host comes later, and left when it stops', async () => {
    const calls = ClusterCaller.open(nats.config())
    await using first = await ClusterShop.start(new Shop('first'), nats.config())
    await using caller = await calls
    assert.deepEqual(await caller.shop.write(1), { at: 'first', input: 1 })
    await using _second = await ClusterShop.start(new Shop('second'), nats.config())
    await caller.linked(2)
    await first.drain()
    await caller.linked(1, 1)
    for (let at = 0; at < 20; at++) assert.deepEqual(await caller.shop.write(at), { at: 'second', input: at })
  })

  it('fails no call while its host stops and another one serves', async () => {
    await using first = await ClusterShop.start(new Shop('first'), nats.config())
    await using second = await ClusterShop.start(new Shop('second'), nats.config())
    await using caller = await ClusterCaller.open(nats.config(), 2)
    first.shop.delay = second.shop.delay = 2
    const failures: unknown[] = []
    let isOver = false
    const each = async (): Promise<void> => {
      while (!isOver) {
        const [error] = await safe(caller.shop.write(1))
        if (error !== undefined && error !== null) failures.push(error)
      }
    }
    const calls = Promise.all([each(), each(), each()])
    await first.shop.began(5)
    await first.drain()
    const before = second.shop.done.length
    await second.shop.began(before + 10)
    isOver = true
    await calls
    assert.deepEqual(failures, [])
  })

  it('answers who is there, as the tools of NATS ask', async () => {
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    await caller.shop.read(1)
    const tool = await nats.connect()
    for (const [verb, subject] of [
      ['ping', '$SRV.PING'],
      ['info', '$SRV.INFO.shop'],
      ['stats', '$SRV.STATS.shop'],
    ] as const) {
      const answer = (await tool.request(subject, '', { timeout: 2_000 })).json<Record<string, unknown>>()
      assert.equal(answer['type'], `io.nats.micro.v1.${verb}_response`)
      assert.equal(answer['name'], 'shop')
      assert.equal((answer['metadata'] as Record<string, unknown>)['app'], 'far')
    }
    await tool.close()
  })
})
