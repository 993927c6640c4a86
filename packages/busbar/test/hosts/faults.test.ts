import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { safe } from '../../src/contract/client-entry.ts'
import { protocolVersion } from '../../src/mesh/links/frames/frame-encoder.ts'
import { encodePacket } from '../../src/mesh/transports/packet-codec.ts'
import { FaultProxy } from './support/fault-proxy.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

async function behindProxy(host: ShopHost): Promise<FaultProxy> {
  return await FaultProxy.open(host.port)
}

const tcp = (port: number) => ({ protocol: 'tcp', host: '127.0.0.1', port }) as const

describe('a link between two apps that breaks', () => {
  it('fails a call that may have been carried out, which is never carried out twice', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    await using other = await ShopHost.start('other')
    using caller = await ShopCaller.open([tcp(proxy.port)])
    host.delay = Infinity
    const answer = safe(caller.shop.write('once'))
    await host.began()
    proxy.cut()
    const [error] = await answer
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(
      error.message,
      /^shop\.write, which app far at tcp:.* was answering: .*is not retried because it is not idempotent$/,
    )
    await caller.linked()
    assert.deepEqual([host.done, other.done], [['once'], []])
    assert.deepEqual(host.aborted, ['LINK_LOST'])
  })

  it('repeats an idempotent call at another host', async () => {
    await using host = await ShopHost.start('far')
    await using other = await ShopHost.start('other')
    await using proxy = await behindProxy(host)
    host.delay = Infinity
    using caller = await ShopCaller.open([tcp(proxy.port), other.address])
    const answers = Array.from({ length: 8 }, (_, at) => caller.shop.read(at))
    await host.began()
    proxy.cut()
    for (const [at, answer] of answers.entries()) assert.deepEqual(await answer, { at: 'other', input: at })
  })

  it('repeats an idempotent call at another host when a worker of the first one has died', async () => {
    await using broken = await ShopHost.start('broken')
    await using fine = await ShopHost.start('fine')
    using caller = await ShopCaller.open([broken.address, fine.address])
    broken.isDown = true
    for (let at = 0; at < 8; at++) assert.deepEqual(await caller.shop.dies(), { at: 'fine', input: 'dies' })
  })

  it('fails an idempotent call without another host', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    host.delay = Infinity
    using caller = await ShopCaller.open([tcp(proxy.port)])
    const answer = safe(caller.shop.read(1))
    await host.began()
    proxy.cut()
    const [error] = await answer
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /it is idempotent, but no other instance is left/)
  })

  it('is the reason of calls that are made before it is opened again', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)])
    host.delay = Infinity
    const again = Array.from({ length: 8 }, async (_, at) => {
      assert.equal((await safe(caller.shop.write(at)))[0]?.code, 'LINK_LOST')
      return (await safe(caller.shop.write(at)))[0]
    })
    await host.began()
    proxy.cut()
    const later = (async () => {
      while (caller.router.serves('shop')) await new Promise((resolve) => setImmediate(resolve))
      return (await safe(caller.shop.write('later')))[0]
    })()
    for (const error of await Promise.all([...again, later])) {
      assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
      assert.match(error.message, /tcp:\/\/127\.0\.0\.1:\d+ has no link/)
    }
  })

  it('is not taken for a missing export while its host drains', async () => {
    const ended: (() => void)[] = []
    await using server = createServer((socket) => {
      const hello = ['busbar-app', protocolVersion, 'far', [['shop', 1]], '']
      for (const text of [hello, [[10]]].map((frames) => JSON.stringify(frames)))
        for (const piece of encodePacket({ text, bytes: [] })) socket.write(piece)
      socket.on('error', () => {}).resume()
      ended.push(() => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    using caller = await ShopCaller.open([tcp((server.address() as AddressInfo).port)])
    while (caller.router.serves('shop')) await new Promise((resolve) => setTimeout(resolve, 1))
    const [error] = await safe(caller.shop.write(1))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
    assert.match(error.message, /tcp:\/\/127\.0\.0\.1:\d+ is stopping and accepts no new calls$/)
    for (const end of ended) end()
  })

  it('ends a stream with an error', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)])
    const seen: number[] = []
    await assert.rejects(
      async () => {
        for await (const tick of caller.shop.ticks(100_000)) if (seen.push(tick) === 20) proxy.cut()
      },
      { code: 'LINK_LOST' },
    )
    assert.ok(seen.length >= 20)
  })

  it('is opened again', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)])
    for (let round = 0; round < 3; round++) {
      await caller.linked()
      assert.deepEqual(await caller.shop.write(round), { at: 'far', input: round })
      proxy.cut()
      while (caller.router.serves('shop')) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    assert.equal(proxy.opened, 3)
  })

  it('counts as lost when the peer is silent, at both ends', async () => {
    await using host = await ShopHost.start('far', { keepAliveTimeout: 300 })
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)], { keepAliveTimeout: 300 })
    host.delay = Infinity
    const answer = safe(caller.shop.write(1))
    await host.began()
    proxy.freeze()
    const [error] = await answer
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /has been silent for 0\.3 s/)
    while (host.aborted.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(host.aborted, ['LINK_LOST'])
  })

  it('gets no further calls soon after its peer has become silent, if another host answers', async () => {
    await using one = await ShopHost.start('one')
    await using two = await ShopHost.start('two')
    await using other = await ShopHost.start('other')
    await using first = await behindProxy(one)
    await using second = await behindProxy(two)
    // A link is silent after a fifteenth of it.
    using caller = await ShopCaller.open([tcp(first.port), tcp(second.port), other.address], {
      keepAliveTimeout: 15_000,
    })
    first.freeze()
    second.freeze()
    const lost = Array.from({ length: 12 }, (_, at) => safe(caller.shop.write(at)))
    for (let answered = 0; answered < 30;) {
      const [error] = await safe(caller.shop.write('next', { timeout: 200 }))
      answered = error === undefined ? answered + 1 : 0
    }
    assert.deepEqual([caller.log.filter((line) => line.includes('silent')), other.done.length >= 30], [[], true])
    first.cut()
    second.cut()
    await Promise.all(lost)
  })

  it('stays open while a value arrives for longer than a silent host may take', async () => {
    await using host = await ShopHost.start('far', { keepAliveTimeout: 600 })
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)], { keepAliveTimeout: 600 })
    proxy.weather = { delay: 0, rate: 400_000 }
    const text = 'x'.repeat(800_000)
    assert.deepEqual(await caller.shop.write(text), { at: 'far', input: text })
    assert.equal(proxy.opened, 1)
  })

  it('is slow, and loses nothing, when its bytes are delayed and few', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)])
    proxy.weather = { delay: 50, rate: 50_000 }
    const inputs = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(500))
    const answers = await Promise.all(inputs.map((input) => caller.shop.write(input)))
    assert.deepEqual(
      answers,
      inputs.map((input) => ({ at: 'far', input })),
    )
    const seen: number[] = []
    for await (const tick of caller.shop.ticks(50)) seen.push(tick)
    assert.equal(seen.length, 50)
  })

  it('counts as lost when only the caller still has its connection', async () => {
    await using host = await ShopHost.start('far')
    await using proxy = await behindProxy(host)
    using caller = await ShopCaller.open([tcp(proxy.port)], { keepAliveTimeout: 300 })
    host.delay = Infinity
    const answer = safe(caller.shop.write(1))
    await host.began()
    proxy.halfOpen()
    assert.equal((await answer)[0]?.code, 'LINK_LOST')
    host.delay = 0
    await caller.linked()
    assert.deepEqual(await caller.shop.write(2), { at: 'far', input: 2 })
  })

  it('has an error that says where the app was looked for, when there is none', async () => {
    using caller = await ShopCaller.open([tcp(1)])
    const [error] = await safe(caller.shop.write(1))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
    assert.match(
      error.message,
      /service 'shop' of another app cannot be reached: tcp:\/\/127\.0\.0\.1:1 has no link: ECONNREFUSED/,
    )
  })

  it('has an error, a line of the log and a report that say that a name cannot be looked up', async () => {
    const resolve = async (): Promise<string[]> =>
      await Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    using caller = await ShopCaller.open([{ protocol: 'tcp', host: 'nowhere.example', port: 1 }], { resolve })
    const [error] = await safe(caller.shop.write(1))
    const why = /nowhere\.example cannot be looked up: ENOTFOUND/
    assert.match(error?.message ?? '', why)
    assert.match(caller.log.join('\n'), why)
    const [report] = caller.hosts.reports
    assert.deepEqual([report!.name, report!.state], ['tcp://nowhere.example:1', 'unlinked'])
    assert.match(report!.why ?? '', why)
  })
})
