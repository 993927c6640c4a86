import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { before, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { protocolVersion } from '../../src/mesh/links/frames/frame-encoder.ts'
import { maxAppCalls, maxFrames, maxHostCalls } from '../../src/mesh/links/limits/limits.ts'
import { IncompletePackets } from '../../src/mesh/transports/incomplete-packets.ts'
import type { Identity } from '../../src/shared/hosts.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { RawPeer } from './support/raw-peer.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

describe('a peer that misbehaves', () => {
  it('is refused further calls when it makes too many, and others are answered', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    host.delay = Infinity
    await using peer = await RawPeer.open(host.port)
    for (let at = 1; at <= maxHostCalls + 10; at++) peer.call(at)
    const refusals = await peer.frames((frame) => frame[0] === 5, 10)
    assert.ok(refusals.every((frame) => JSON.stringify(frame).includes('RESOURCE_EXHAUSTED')))
    host.delay = 0
    assert.deepEqual(await caller.shop.write('mine'), { at: 'far', input: 'mine' })
  })

  it('is refused calls on any of its links when all together have too many', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    host.delay = Infinity
    const peers = await Promise.all(
      Array.from({ length: maxAppCalls / maxHostCalls + 1 }, () => RawPeer.open(host.port)),
    )
    const [last, ...others] = peers
    for (const peer of others) for (let at = 1; at <= maxHostCalls; at++) peer.call(at)
    await host.began(maxAppCalls)
    last!.call(1)
    const [refusal] = await last!.frames((frame) => frame[0] === 5, 1)
    assert.match(JSON.stringify(refusal), /RESOURCE_EXHAUSTED/)
    host.delay = 0
    assert.deepEqual(await caller.shop.write('mine'), { at: 'far', input: 'mine' })
    await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()))
  })

  it('loses its link when it goes on with calls beyond its limit', async () => {
    await using host = await ShopHost.start('far')
    host.delay = Infinity
    await using peer = await RawPeer.open(host.port)
    for (let at = 1; at <= 2 * maxHostCalls + 1; at++) peer.call(at)
    await peer.closed
    assert.equal(host.done.length, maxHostCalls)
  })

  it('loses its link when a packet has too many frames, or calls in them', async () => {
    await using host = await ShopHost.start('far')
    const pings = Array.from({ length: maxFrames + 1 }, () => '[8]').join()
    const values = Array.from({ length: maxFrames + 1 }, () => '1').join()
    for (const frames of [pings, `[14,1,0,1,"none","write",0,0,-1,0,${values}]`]) {
      await using peer = await RawPeer.open(host.port)
      peer.sendText(`[${frames}]`)
      await peer.closed
    }
    await using peer = await RawPeer.open(host.port)
    peer.sendText(`[${Array.from({ length: maxFrames }, () => '[8]').join()}]`)
    peer.call(1)
    await peer.frames((frame) => frame[1] === -1, 1)
  })

  it('is refused, and both ends say why, if it speaks another version of the protocol', async () => {
    await using host = await ShopHost.start('far')
    const other = protocolVersion - 1
    await using peer = await RawPeer.open(host.port, undefined, other)
    await peer.closed
    // The entries of the host's hello.
    const hello: unknown[] = await peer.frames(() => true, 2)
    assert.deepEqual(hello.slice(0, 2), ['busbar-app', protocolVersion])
    await pollUntil(() => host.log.some((line) => line.includes(`speaks version ${other} of the protocol`)))
  })

  it('loses its link when it makes calls and never reads', async () => {
    await using host = await ShopHost.start('far')
    await using peer = await RawPeer.open(host.port)
    peer.socket.pause()
    let id = 0
    // Answers are as large as the calls.
    const large = 'x'.repeat(256 * 1024)
    while (host.links.size > 0 && id < 400) {
      for (let at = 0; at < 20; at++) peer.call(++id, large)
      await peer.flushed()
    }
    // These are refused, and even the refusals are too many in the end.
    while (host.links.size > 0) {
      const calls = Array.from({ length: 1_000 }, () => RawPeer.callFrame(++id, 1))
      peer.send(calls)
      await peer.flushed()
    }
    assert.ok(host.done.length <= maxHostCalls)
  })

  it('loses its link when a value has a key that is refused, however it is written', async () => {
    await using host = await ShopHost.start('far')
    for (const key of ['__proto__', '__proto\\u005f_'])
      for (const frame of [
        `[1,1,0,1,"shop","write",0,0,-1,0,1,{"a":[{"${key}":{"x":1}}]}]`,
        `[14,1,0,1,"shop","write",0,0,-1,0,[1,{"${key}":{"x":1}}]]`,
      ]) {
        await using peer = await RawPeer.open(host.port)
        peer.sendText(`[${frame}]`)
        await peer.closed
      }
    assert.deepEqual(host.done, [])
  })

  it('may give a reason that no version of Busbar has', async () => {
    await using host = await ShopHost.start('far')
    host.delay = Infinity
    await using peer = await RawPeer.open(host.port)
    const reason = { code: 'FROM_LATER', message: 'a later version has this code' }
    peer.send([RawPeer.callFrame(1, 1), RawPeer.callFrame(2, 2), [6, 1, 1, reason]])
    await pollUntil(() => host.aborted.length > 0)
    host.delay = 0
    peer.call(3)
    await peer.frames((frame) => frame[1] === -3, 1)
    peer.send([[11, 1, { ...reason, code: 'constructor' }]])
    await pollUntil(() => host.aborted.length > 1)
    assert.deepEqual(host.aborted, ['INTERNAL', 'INTERNAL'])
  })

  it('is cut off when it sends no hello, garbage, or frames that it may not send', async () => {
    await using host = await ShopHost.start('far')
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\0'.repeat(50)]) {
      const socket = connect({ host: '127.0.0.1', port: host.port })
      socket.on('error', () => {}).resume()
      socket.write(bytes)
      await new Promise((resolve) => socket.once('close', resolve))
    }
    await using peer = await RawPeer.open(host.port)
    peer.send([[2, 5, 1, 0]])
    await peer.closed
    assert.equal(host.links.size, 0)
  })

  it('may not call what is not exported', async () => {
    await using host = await ShopHost.start('far')
    await using peer = await RawPeer.open(host.port)
    peer.send([[1, 1, 0, 1, 'secret', 'read', 0, 0, -1, 0, 0]])
    const [frame] = await peer.frames((one) => one[0] === 5, 1)
    assert.match(JSON.stringify(frame), /FORBIDDEN/)
  })
})

for (const protocol of ['tcp', 'tls'] as const)
  describe(`a peer that floods over ${protocol}`, () => {
    let far: { identity?: Identity } = {}
    let near: Identity | undefined
    before(async () => {
      if (protocol === 'tcp') return
      const ca = await makeAuthority()
      const identityOf = async (name: string): Promise<Identity> => {
        return { ...(await makeCertificate({ name, hosts: ['127.0.0.1'], days: 1 }, ca)), ca: ca.cert }
      }
      far = { identity: await identityOf('far') }
      near = await identityOf('raw')
    })

    it('gets half of the links of a host at most, and gets others when it closes some', async () => {
      // These peers answer no pings.
      await using host = await ShopHost.start('far', { ...far, keepAliveTimeout: 600_000 })
      const peers: RawPeer[] = []
      for (let at = 0; at < 26; at++)
        peers.push(...(await Promise.all(Array.from({ length: 20 }, () => RawPeer.open(host.port, near)))))
      await Promise.all(peers.slice(500).map(({ closed }) => closed))
      assert.equal(peers.filter(({ isClosed }) => !isClosed).length, 500)
      assert.equal(host.links.size, 500)
      assert.match(host.log.join('\n'), /app raw has too many links already/)
      await Promise.all(peers.slice(0, 10).map((peer) => peer[Symbol.asyncDispose]()))
      await pollUntil(() => host.links.size === 490)
      peers.push(await RawPeer.open(host.port, near))
      assert.equal(host.links.size, 491)
      await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()))
    })

    it('keeps no other out by connections on which it sends nothing', async () => {
      await using host = await ShopHost.start('far', far)
      // It has not sent its hello, but, over TLS, its certificate.
      const slow = near === undefined ? undefined : connectTls({ host: '127.0.0.1', port: host.port, ...near })
      if (slow !== undefined) await once(slow, 'secureConnect')
      const held = Array.from({ length: 300 }, () => connect({ host: '127.0.0.1', port: host.port }))
      const closed = held.slice(0, 30).map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      try {
        for (const socket of held) socket.on('error', () => {}).resume()
        await Promise.all(held.map((socket) => once(socket, 'connect')))
        await using peer = await RawPeer.open(host.port, near)
        peer.call(1)
        await peer.frames((frame) => frame[1] === -1, 1)
        await Promise.all(closed)
        assert.equal(slow?.readyState, slow && 'open')
        assert.match(host.log.join('\n'), /refused a connection from 127\.0\.0\.1:\d+: 256 newer ones/)
      } finally {
        for (const socket of held) socket.destroy()
        slow?.destroy()
      }
    })

    it('takes up no place by connections that it resets at once', async () => {
      await using host = await ShopHost.start('far', far)
      // A connection that was reset before it is accepted has no address.
      for (let at = 0; at < 300; at++) host.listener.accept(new Socket())
      const peers = await Promise.all(Array.from({ length: 100 }, () => RawPeer.open(host.port, near)))
      assert.equal(peers.filter(({ isClosed }) => isClosed).length, 0)
      await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()))
    })

    it('keeps no peer of another address out, however fast it makes new connections', async () => {
      await using host = await ShopHost.start('far', far)
      const waiting = connect({ host: '127.0.0.1', port: host.port })
      await once(waiting, 'connect')
      const flood = Array.from({ length: 600 }, () =>
        connect({ host: '127.0.0.1', port: host.port, localAddress: '127.0.0.2' }),
      )
      const closed = flood.slice(0, 300).map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      try {
        for (const socket of flood) socket.on('error', () => {}).resume()
        await Promise.all(closed)
        assert.equal(waiting.readyState, 'open')
        if (near === undefined) return
        await once(connectTls({ socket: waiting, host: '127.0.0.1', ...near }), 'secureConnect')
      } finally {
        for (const socket of flood) socket.destroy()
        waiting.destroy()
      }
    })

    it('loses a link on which a packet is never complete, when those of all links need too much', async () => {
      const incomplete = new IncompletePackets(1024 ** 2)
      await using host = await ShopHost.start('far', { ...far, incomplete })
      const peers = await Promise.all([RawPeer.open(host.port, near), RawPeer.open(host.port, near)])
      const [one, other] = peers
      const size = 400 * 1024
      one.sendPart(size)
      await pollUntil(() => incomplete.size === size)
      other.sendPart(size)
      await pollUntil(() => incomplete.size === 2 * size)
      other.socket.write(Buffer.alloc(size))
      await other.closed
      assert.equal(one.isClosed, false)
      // What the ended link had needs none any more.
      await pollUntil(() => incomplete.size === size)
      one.socket.write(Buffer.alloc(size))
      await pollUntil(() => incomplete.size === 2 * size)
      assert.equal(host.links.size, 1)
      await one[Symbol.asyncDispose]()
      await pollUntil(() => incomplete.size === 0)
    })
  })
