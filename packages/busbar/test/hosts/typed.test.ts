import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { safe } from '../../src/contract/client-entry.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

describe('a typed service of another app', () => {
  it('answers calls, with its declared errors', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const input = { list: [1, 2], bytes: new Uint8Array(5000).fill(7), at: new Date(5) }
    assert.deepEqual(await caller.shop.write(input), { at: 'far', input })
    const [error] = await safe(caller.shop.fails(1))
    assert.deepEqual([error?.code, error?.data], ['SOLD_OUT', { left: 0 }])
  })

  it('streams values, as fast as they are read', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const seen: number[] = []
    for await (const tick of caller.shop.ticks(100)) seen.push(tick)
    assert.equal(seen.length, 100)
  })

  it('learns that its caller has cancelled, or has no more time', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    host.delay = Infinity
    const abort = new AbortController()
    const cancelled = safe(caller.shop.write(1, { signal: abort.signal }))
    await host.began()
    abort.abort()
    assert.equal((await cancelled)[0]?.code, 'CALL_ABORTED')
    const [late] = await safe(caller.shop.write(2, { timeout: 50 }))
    assert.equal(late?.code, 'DEADLINE_EXCEEDED')
    while (host.aborted.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    assert.deepEqual(host.aborted, ['CALL_ABORTED', 'DEADLINE_EXCEEDED'])
  })

  it('is called at the less loaded of two hosts', async () => {
    await using slow = await ShopHost.start('slow')
    await using quick = await ShopHost.start('quick')
    using caller = await ShopCaller.open([slow.address, quick.address])
    slow.delay = 100
    quick.delay = 1
    const each = async (): Promise<void> => {
      for (let at = 0; at < 20; at++) await caller.shop.write(at)
    }
    await Promise.all([each(), each(), each(), each()])
    assert.equal(slow.done.length + quick.done.length, 80)
    assert.ok(slow.done.length * 2 < quick.done.length, `${slow.done.length} of 80 calls went to the slow host`)
  })

  it('is not called for a while at a host whose calls fail', async () => {
    await using broken = await ShopHost.start('broken')
    await using fine = await ShopHost.start('fine')
    using caller = await ShopCaller.open([broken.address, fine.address])
    broken.isDown = true
    for (let at = 0; at < 50; at++) await safe(caller.shop.busy())
    assert.ok(caller.log.some((line) => line.includes('gets no calls for a while')))
    for (let at = 0; at < 20; at++) assert.deepEqual(await caller.shop.busy(), { at: 'fine', input: 'busy' })
  })

  it('is still called if all of its hosts fail', async () => {
    await using broken = await ShopHost.start('broken')
    using caller = await ShopCaller.open([broken.address])
    broken.isDown = true
    for (let at = 0; at < 20; at++) assert.equal((await safe(caller.shop.busy()))[0]?.message, 'broken is down')
    broken.isDown = false
    assert.deepEqual(await caller.shop.busy(), { at: 'broken', input: 'busy' })
  })

  it('is reached at every record of a name', async () => {
    await using host = await ShopHost.start('far')
    const records = ['127.0.0.1', '127.0.0.2']
    const address = { ...host.address, host: 'shop.example' }
    using caller = await ShopCaller.open([address], { resolve: async () => records })
    assert.equal(host.links.size, 2)
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
  })

  it('loses no call when its host asks callers to move to another worker', async () => {
    await using host = await ShopHost.start('old')
    const port = host.port
    using caller = await ShopCaller.open([host.address])
    const failures: unknown[] = []
    let isOver = false
    const calls = (async () => {
      while (!isOver) {
        const [error] = await safe(caller.shop.write(1))
        if (error !== null && error !== undefined) failures.push(error)
      }
    })()
    await host.began()
    const old = host.links
    await host.replace()
    await old.drain(5_000, false)
    old.close({ code: 'SERVICE_UNAVAILABLE', message: 'the old worker has stopped' })
    const before = host.done.length
    await host.began(before + 5)
    isOver = true
    await calls
    assert.deepEqual(failures, [])
    assert.equal(host.port, port)
  })
})
