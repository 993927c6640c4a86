import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { protocolVersion } from '../../src/mesh/links/frames/frame-encoder.ts'
import { maxAppCalls, maxAppInputs, maxAppUnread, maxHostCalls } from '../../src/mesh/links/limits/limits.ts'
import { createLink } from '../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../src/mesh/transports/loopback.ts'
import { AppUse, type OneAppUse } from '../../src/shared/calls/app-use.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { Callee } from '../support/mesh/links.ts'
import { RawPeer } from './support/raw-peer.ts'
import { exportPortOf } from './support/two-apps.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

const stock = new URL('../typed/programs/shop/stock', import.meta.url).pathname
const callOf = (id: number, method: string, input: unknown): unknown[] => [
  1,
  id,
  0,
  1,
  'stock',
  method,
  0,
  0,
  -1,
  0,
  1,
  input,
]

describe('an app whose links lead to three workers', () => {
  it('gets as many calls there as it may have in all, others are answered, and it gets others later', async () => {
    using folder = new TestFolder()
    folder.write('busbar.config.json', {
      gateway: { port: 0 },
      services: { stock: { path: stock, run: 'thread', instances: 3 } },
      export: { tcp: '127.0.0.1:0', services: ['stock'] },
    })
    await using far = await TestApp.startLoaded(await loadApp(folder.path, { env: {} }))
    const port = exportPortOf(far)
    const fill = async (): Promise<{ peers: RawPeer[]; accepted: number }> => {
      const peers: RawPeer[] = []
      let accepted = 0
      for (let at = 0; at < 3; at++) {
        const peer = await RawPeer.open(port)
        peers.push(peer)
        peer.send(Array.from({ length: maxHostCalls }, (_, call) => callOf(call + 1, 'hang', `${call}`)))
        await peer.read()
        accepted += maxHostCalls - peer.refused.length
        if (peer.refused.length > 0)
          assert.match(JSON.stringify(peer.refused), /RESOURCE_EXHAUSTED.*4000 calls in flight/)
      }
      return { peers, accepted }
    }
    const { peers, accepted } = await fill()
    assert.equal(accepted, maxAppCalls)

    for (let at = 0; at < 3; at++) {
      await using other = await RawPeer.open(port, undefined, protocolVersion, 'other')
      other.send([callOf(1, 'count', { id: 7 })])
      const [answer] = await other.frames((frame) => frame[1] === -1, 1)
      assert.deepEqual(answer, [2, -1, 1, 1, 70])
    }

    // Nothing of what it had at workers that have ended is left.
    await far.running.replace()
    await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()))
    const again = await fill()
    assert.equal(again.accepted, maxAppCalls)
    await Promise.all(again.peers.map((peer) => peer[Symbol.asyncDispose]()))
  })
})

describe('what the calls of one app take at all workers', () => {
  /** Of 2 MiB, with the frame around it. */
  const large = 'x'.repeat(2 * 1024 ** 2 - 100)
  const size = 2 * 1024
  const inKiB = (bytes: number): number => bytes / 1024
  /** Of the app at the worker that the host is, and at another one. */
  const useOf = ({ use }: ShopHost): OneAppUse[] => [use.of('raw', 0, ''), use.of('raw', 1, '')]

  it('is bounded for their inputs: calls are refused, and those of others are not', async () => {
    await using host = await ShopHost.start('far')
    using caller = await ShopCaller.open([host.address])
    const [own, other] = useOf(host) as [OneAppUse, OneAppUse]
    const almost = inKiB(maxAppInputs) - 3 * size - 10
    other.add('inputs', almost)
    host.delay = Infinity
    const peers = [await RawPeer.open(host.port), await RawPeer.open(host.port)]
    for (const peer of peers) {
      peer.call(1, large)
      peer.call(2, large)
      peer.call(3)
      await peer.read()
    }
    const refused = peers.map((peer) => peer.refused.map((frame) => frame[1]))
    assert.deepEqual(refused, [[], [-2]])
    assert.match(JSON.stringify(peers[1]!.refused), /RESOURCE_EXHAUSTED.*256 MiB of input/)
    host.delay = 0
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()))
    await pollUntil(() => own.total('calls') === 0)
    assert.equal(own.total('inputs'), almost)
  })

  it('counts the memory of many small objects, and not only their characters', async () => {
    await using host = await ShopHost.start('far')
    await using peer = await RawPeer.open(host.port)
    const [, other] = useOf(host) as [OneAppUse, OneAppUse]
    other.add('inputs', inKiB(maxAppInputs) - 16 * 1024)
    // Of less than 1 MiB, and they take 20.
    const objects = `[${'{},'.repeat(300_000)}0]`
    peer.sendText(`[[1,1,0,1,"shop","write",0,0,-1,0,1,${objects}]]`)
    peer.call(2, 'x'.repeat(900_000))
    await peer.read()
    const refused = peer.refused.map((frame) => frame[1])
    assert.deepEqual(refused, [-1])
  })

  it('is bounded for the values of streams: the call fails to which one is too many', async () => {
    const use = new AppUse(2)
    const [own, other] = [use.of('raw', 0, ''), use.of('raw', 1, '')]
    const callee = new Callee()
    const [near, far] = loopbackTransports()
    const link = createLink(near, { peer: -1, label: 'app raw', answer: callee.answer, isForeign: true, use: own })
    far.open({ onPacket() {}, onPart() {}, onDrain() {}, onClose() {} })
    const value = JSON.stringify('x'.repeat(1024 ** 2 - 100))
    const send = (id: number): boolean => far.send({ text: `[[3,${id},1,${value}]]`, bytes: [] })
    far.send({ text: '[[1,1,1,0,"shop","list",0,1,-1,0,0],[1,2,1,0,"shop","list",0,1,-1,0,0]]', bytes: [] })
    const [one, two] = [await callee.call(0), await callee.call(1)]
    other.add('inputs', inKiB(2 * maxAppInputs) - 2 * 1024)
    send(1)
    await one.recorder.until(1)
    // What is consumed counts no more.
    one.channel.consumed(1)
    send(1)
    send(2)
    await two.recorder.over
    assert.deepEqual(two.recorder.events, [['cancel', 'RESOURCE_EXHAUSTED']])
    assert.equal(one.recorder.values.length, 2)
    assert.equal(link.state, 'open')
    link.close({ code: 'CALL_ABORTED', message: 'the test is over' })
    assert.equal(own.total('inputs'), inKiB(2 * maxAppInputs) - 2 * 1024)
    assert.equal(own.total('calls'), 0)
  })

  it('is bounded for answers that it does not read: further ones fail their calls', async () => {
    await using host = await ShopHost.start('far')
    const [own, other] = useOf(host) as [OneAppUse, OneAppUse]
    other.add('unread', inKiB(maxAppUnread) - 2 * size)
    await using peer = await RawPeer.open(host.port)
    peer.socket.pause()
    for (let at = 1; at <= 10; at++) peer.call(at, large)
    await pollUntil(() => host.log.length > 0)
    assert.match(host.log[0]!, /refused to send a value of shop\.write to app raw at .* 25\d MiB on all its links/)
    peer.socket.resume()
    await pollUntil(() => peer.refused.length > 0)
    assert.match(JSON.stringify(peer.refused[0]), /RESOURCE_EXHAUSTED.*25\d MiB on all its links wait for app raw/)
    await peer.read()
    await pollUntil(() => own.total('unread') === inKiB(maxAppUnread) - 2 * size)
    assert.equal(host.links.size, 1)
  })
})
