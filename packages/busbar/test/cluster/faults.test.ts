import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { safe } from '../../src/contract/client-entry.ts'
import type { AppStatus } from '../../src/observe/app-status.ts'
import { ClusterConnection } from '../../src/shared/cluster/connection.ts'
import { AppCluster } from '../../src/supervisor/cluster/app-cluster.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { Shop } from '../hosts/support/shop.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsCluster, NatsServer, withoutNats } from './support/nats-server.ts'

describe('a call over NATS', { skip: withoutNats }, () => {
  it('fails at once when the server dies, and is never sent twice; later calls work again', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    host.shop.delay = Infinity
    const call = safe(caller.shop.write('once'))
    await host.shop.began()
    await nats.kill()
    assert.equal((await call)[0]?.code, 'LINK_LOST')
    const [down] = await safe(caller.shop.write('while it is down'))
    assert.equal(down?.code, 'SERVICE_UNAVAILABLE')
    assert.match(down.message, /NATS at 127\.0\.0\.1:\d+ /)
    await nats.start()
    host.shop.delay = 0
    await caller.linked()
    assert.deepEqual(await caller.shop.write('again'), { at: 'far', input: 'again' })
    assert.deepEqual(host.shop.done, ['once', 'again'])
  })

  it('ends a stream with an error when the server dies', async () => {
    await using nats = await NatsServer.start()
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const seen: number[] = []
    const read = async (): Promise<void> => {
      for await (const tick of caller.shop.ticks(100_000)) if (seen.push(tick) === 10) void nats.kill()
    }
    await assert.rejects(read(), { code: 'LINK_LOST' })
    assert.ok(seen.length >= 10)
  })

  it('fails when its host is cut off, at the latest after the keep-alive time; an idempotent one is repeated', async () => {
    await using nats = await NatsServer.start()
    await using proxy = await FaultProxy.open(nats.port)
    await using cut = await ClusterShop.start(new Shop('cut'), nats.config({}, proxy.port))
    await using caller = await ClusterCaller.open(nats.config(), 1, 300)
    cut.shop.delay = Infinity
    const write = safe(caller.shop.write('w'))
    const read = caller.shop.read('r')
    await cut.shop.began(2)
    await using fine = await ClusterShop.start(new Shop('fine'), nats.config())
    await caller.linked(2)
    proxy.freeze()
    assert.equal((await write)[0]?.code, 'LINK_LOST')
    assert.deepEqual(await read, { at: 'fine', input: 'r' })
    assert.deepEqual(fine.shop.done, ['r'])
    proxy.cut()
  })

  it('goes on after the caller was cut off', async () => {
    await using nats = await NatsServer.start()
    await using proxy = await FaultProxy.open(nats.port)
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config({}, proxy.port))
    host.shop.delay = Infinity
    const call = safe(caller.shop.write(1))
    await host.shop.began()
    proxy.cut()
    assert.equal((await call)[0]?.code, 'LINK_LOST')
    host.shop.delay = 0
    await caller.linked()
    assert.deepEqual(await caller.shop.write(2), { at: 'far', input: 2 })
  })

  it('fails within the keep-alive time when the server is cut off, and works again afterwards', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config(), 300)
    await using caller = await ClusterCaller.open(nats.config(), 1, 300)
    host.shop.delay = Infinity
    const call = safe(caller.shop.write('once'))
    await host.shop.began()
    nats.freeze()
    assert.equal((await call)[0]?.code, 'LINK_LOST')
    nats.thaw()
    host.shop.delay = 0
    await caller.linked()
    assert.deepEqual(await caller.shop.write('again'), { at: 'far', input: 'again' })
    assert.deepEqual(host.shop.done, ['once', 'again'])
  })

  it('comes back for every caller when twenty lose the server at once', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    const callers = await Promise.all(Array.from({ length: 20 }, () => ClusterCaller.open(nats.config())))
    for (let time = 0; time < 3; time++) {
      await nats.kill()
      await nats.start()
      await Promise.all(callers.map((caller) => caller.linked()))
    }
    await pollUntil(() => host.links.size === 20)
    await Promise.all(callers.map((caller) => caller[Symbol.asyncDispose]()))
  })

  for (const silently of [false, true])
    it(`goes to hosts on its side while the servers are apart${silently ? ', and do not notice' : ''}; later to all`, async () => {
      await using nats = await NatsCluster.start()
      const [here, there] = nats.servers
      await using far = await ClusterShop.start(new Shop('far'), there!.config(), 300)
      await using caller = await ClusterCaller.open(here!.config(), 1, 300)
      far.shop.delay = Infinity
      const call = safe(caller.shop.write('once'))
      await far.shop.began()
      nats.partition(silently)
      assert.equal((await call)[0]?.code, 'LINK_LOST')
      const [apart] = await safe(caller.shop.write('apart'))
      assert.equal(apart?.code, 'SERVICE_UNAVAILABLE')
      await using near = await ClusterShop.start(new Shop('near'), here!.config(), 300)
      await caller.linked()
      for (let at = 0; at < 10; at++) assert.deepEqual(await caller.shop.write(at), { at: 'near', input: at })
      nats.heal()
      far.shop.delay = 0
      await caller.linked(2)
      while (far.shop.done.length === 1) await caller.shop.write('after')
      assert.deepEqual(new Set(far.shop.done.slice(1)), new Set(['after']))
      assert.equal(near.shop.done.filter((input) => input !== 'after').length, 10)
    })

  it('may be larger than what the server allows, in both directions', async () => {
    await using nats = await NatsServer.start('max_payload: 65536')
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const input = { bytes: new Uint8Array(9_000_000).map((_, at) => at), text: 'ä'.repeat(300_000) }
    const answer = (await caller.shop.write(input)) as { input: typeof input }
    assert.deepEqual(answer.input, input)
  })

  it('may be large while others are', async () => {
    await using nats = await NatsServer.start()
    await using _ = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const large = new Uint8Array(3_000_000)
    const answers = await Promise.all(Array.from({ length: 4 }, () => caller.shop.write(large)))
    assert.equal(answers.length, 4)
  })

  it('is refused beyond what one value may have, and others go on', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    const [error] = await safe(caller.shop.write(new Uint8Array(65 * 1024 * 1024)))
    assert.equal(error?.code, 'INPUT_INVALID')
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    assert.deepEqual(host.shop.done, [1])
  })
})

describe('a host that stops while its NATS server stands still', { skip: withoutNats }, () => {
  it('waits for the server from the start of its stop, and not once more at its end', async () => {
    await using nats = await NatsServer.start()
    await using proxy = await FaultProxy.open(nats.port)
    const config = nats.config({}, proxy.port)
    const log = (): void => {}
    const [during, after] = [1, 2].map(
      () => new ClusterConnection({ config, name: 'test', opened: () => {}, lost: () => {}, log }),
    )
    const app = { name: 'far', cluster: config, services: [] } as unknown as App
    const status = { app: { startedAt: 0 }, instances: [], calls: [] } as unknown as AppStatus
    const host = new AppCluster({ app: () => app, slots: { current: [] }, status: () => status, host: 'far', log })
    const close = host.open()
    await Promise.all([during!.tried, after!.tried, pollUntil(() => host.connection !== undefined)])
    proxy.freeze()
    host.entered('stopping')
    // Waits for as long as the host does.
    await during!.close()
    const ends: string[] = []
    const other = after!.close().then(() => ends.push('a connection that has begun to close before'))
    await close()
    ends.push('the host')
    await other
    assert.equal(ends[0], 'the host')
    proxy.cut()
  })
})
