import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RawPeer } from './support/raw-peer.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

const large = 'x'.repeat(1024 ** 2)

describe('calls with large answers that arrive together', () => {
  it('begin a few at a time if nobody reads, others are answered, and all are when they are read', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    host.answer = large
    await using peer = await RawPeer.open(host.port)
    peer.socket.pause()
    peer.send(Array.from({ length: 100 }, (_, at) => RawPeer.callFrame(at + 1, at)))
    await peer.flushed()
    for (let at = 0; at < 3; at++) assert.equal(await caller.shop.read(at), large)
    assert.ok(host.done.length < 80, `${host.done.length} calls have begun`)
    peer.socket.resume()
    await peer.frames((frame) => frame[0] === 2, 100)
    assert.equal(host.done.length, 103)
  })

  it('begin a few at a time if their answers are errors, too', async () => {
    await using host = await ShopHost.start('far')
    host.answer = { left: 0, large }
    await using peer = await RawPeer.open(host.port)
    peer.send([RawPeer.callFrame(1, 0, 'fails')])
    await peer.frames((frame) => frame[0] === 5, 1)
    host.delay = 30
    peer.socket.pause()
    peer.send(Array.from({ length: 100 }, (_, at) => RawPeer.callFrame(at + 2, at, 'fails')))
    await peer.flushed()
    using caller = await ShopCaller.open([host.address])
    for (let at = 0; at < 3; at++) await caller.shop.fails(at).catch(() => {})
    assert.ok(host.done.length < 80, `${host.done.length} calls have begun`)
    peer.socket.resume()
    await peer.frames((frame) => frame[0] === 5, 101)
    assert.equal(host.done.length, 104)
  })

  it('wait only a moment for calls of their method that are not answered', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    host.answer = large
    await caller.shop.write(0)
    host.delay = Infinity
    for (let at = 0; at < 100; at++) void caller.shop.write(at).catch(() => {})
    await host.began(101)
  })
})
