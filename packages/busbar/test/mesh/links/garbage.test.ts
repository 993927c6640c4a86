import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { protocolVersion } from '../../../src/mesh/links/frames/frame-encoder.ts'
import { helloPacket } from '../../../src/mesh/transports/hello.ts'
import { maxLeaves, maxNamed, maxPacket } from '../../../src/mesh/links/limits/limits.ts'
import type { LinkOptions } from '../../../src/mesh/links/link.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import { encodePacket } from '../../../src/mesh/transports/packet-codec.ts'
import type { Packet, PacketTransport } from '../../../src/mesh/links/packet-transport.ts'
import { dialUnix, listenUnix } from '../../../src/mesh/transports/unix.ts'
import { Callee, head, CallRecorder } from '../../support/mesh/links.ts'
import { SeededRandom } from '../../support/seeded-random.ts'

const corpus = new URL('corpus/', import.meta.url)
const secret = 's'

interface Sample {
  readonly packets: readonly string[]
  /** The link's error about the peer. Undefined if the link stays open. */
  readonly ends?: string
}

const samples = readdirSync(corpus).map((name): [string, Sample] => [
  name.replace('.json', ''),
  JSON.parse(readFileSync(new URL(name, corpus), 'utf8')) as Sample,
])

describe('a peer that violates the protocol', () => {
  for (const [name, { packets, ends }] of samples)
    it(ends === undefined ? `may send: ${name}` : `is disconnected: ${name}`, async () => {
      const { link, peer, callee } = talkedTo()
      const pending = new CallRecorder()
      link.open(head, 1, true, pending)
      for (const text of packets) peer.send({ text, bytes: [] })
      if (ends !== undefined) {
        assert.equal((await link.closed).message, `worker 1 ${ends}`)
        assert.equal((await pending.over)?.code, 'LINK_LOST')
      } else {
        peer.send({ text: '[[2,-1,1,1,"fine"]]', bytes: [] })
        assert.equal(await pending.over, undefined)
        link.close({ code: 'CALL_ABORTED', message: 'the test is over' })
      }
      // Calls that were being answered have been cancelled.
      for (const call of callee.calls) assert.notEqual(call.recorder.events.length, 0)
      assert.deepEqual([link.inFlight, link.answering], [0, 0])
    })

  for (const [name, last, fault] of [
    ['a reply', 1, 'sent a reply to a stream'],
    ['the beginning of a reply', 0, 'sent the beginning of a reply to a typed call'],
  ] as const)
    it(`is disconnected: ${name} to a stream`, async () => {
      const { link, peer } = talkedTo()
      const pending = new CallRecorder()
      link.open({ ...head, kind: 'stream' }, 1, true, pending)
      peer.send({ text: `[[2,-1,${last},1,5]]`, bytes: [] })
      assert.equal((await link.closed).message, `worker 1 ${fault}`)
      assert.equal((await pending.over)?.code, 'LINK_LOST')
    })

  it('is disconnected if a frame has more leaves than it may have', async () => {
    const { link, peer } = talkedTo()
    const leaves = '0,'.repeat(maxLeaves) + '0'
    peer.send({ text: `[[14,1,0,1,"shop","list",0,1,-1,0,[${leaves}],{"a":0}]]`, bytes: [] })
    assert.equal((await link.closed).message, 'worker 1 sent too many values of one shape')
    assert.equal(link.answering, 0)
  })

  it('is disconnected if the values of a frame would have too many names', async () => {
    const { link, peer } = talkedTo()
    const [leaves, name] = [Array.from({ length: 1000 }, () => 1), 'k'.repeat(maxNamed / 1000 + 1)]
    peer.send({ text: `[[14,1,0,1,"shop","list",0,1,-1,0,${JSON.stringify(leaves)},{"${name}":0}]]`, bytes: [] })
    assert.equal((await link.closed).message, 'worker 1 sent too many values of one shape')
    assert.equal(link.answering, 0)
  })

  const deep = 50_000
  for (const [of, start, end] of [
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
    ['tagged values', '{"$set":[', ']}'],
  ] as const)
    it(`of another app is disconnected if ${of} are nested too deeply`, async () => {
      const { link, peer } = talkedTo({ isForeign: true })
      const value = `${start.repeat(deep)}0${end.repeat(deep)}`
      peer.send({ text: `[[1,1,0,1,"shop","list",0,1,-1,0,1,${value}]]`, bytes: [] })
      assert.equal((await link.closed).message, 'worker 1 sent a value that is nested too deeply')
      assert.equal(link.answering, 0)
    })

  it('is disconnected if a value with tags is nested too deeply', async () => {
    const { link, peer } = talkedTo()
    peer.send({ text: `[[1,1,0,1,"shop","list",0,1,-1,0,2,${'['.repeat(1000)}0${']'.repeat(1000)}]]`, bytes: [] })
    assert.match((await link.closed).message, /sent an invalid value: .*nested too deeply/)
  })

  it('can do no other harm with random packets', async (t) => {
    const chance = new SeededRandom()
    t.diagnostic(`seed ${chance.seed}`)
    const texts = samples.flatMap(([, { packets }]) => packets)
    for (let round = 0; round < 2000; round++) {
      const { link, peer, callee } = talkedTo()
      const pending = new CallRecorder()
      link.open(head, 1, true, pending)
      const sent = Array.from({ length: 3 }, () => mutated(chance.of(texts), chance))
      for (const text of sent) peer.send({ text, bytes: [] })
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      if (link.state !== 'closed') link.close({ code: 'CALL_ABORTED', message: 'the test is over' })
      await Promise.all([pending.over, link.closed])
      assert.deepEqual([link.inFlight, link.answering], [0, 0], sent.join('\n'))
      for (const call of callee.calls) assert.notEqual(call.recorder.events.length, 0, sent.join('\n'))
    }
  })
})

describe('a client of a worker’s socket', () => {
  const strangers: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
    'and speaks HTTP': [Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'), /packet of/],
    'and sends noise': [randomBytes(4096), /packet of|no worker of an app/],
    'and says too much': [bytesOf({ text: 'x'.repeat(2000), bytes: [] }), /a packet of 2008 bytes, more than 1024/],
    'and says something else': [bytesOf({ text: '["hello"]', bytes: [] }), /is not a worker of an app/],
    'with a wrong secret': [bytesOf(helloPacket({ worker: 1, secret: 'guess' })), /belongs to another app/],
    'and speaks another version': [
      bytesOf({ text: JSON.stringify(['busbar', protocolVersion + 1, 1, secret]), bytes: [] }),
      new RegExp(`speaks version ${protocolVersion + 1} of the protocol instead of ${protocolVersion}`),
    ],
    'and goes away': [new Uint8Array(), /has closed the connection unexpectedly/],
  }

  for (const [name, [bytes, why]] of Object.entries(strangers))
    it(`${name} is refused`, async () => {
      await using place = await listening()
      const socket = connect({ path: place.path })
      socket.on('error', () => {})
      if (bytes.length > 0) socket.write(bytes)
      else socket.end()
      socket.resume()
      const refused = await place.refused
      assert.equal((refused as { code?: string }).code, 'LINK_LOST')
      assert.match(refused.message, why)
      if (!socket.closed) await once(socket, 'close')
    })

  it('that is a worker of another version learns this version', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-old-'))
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.write(bytesOf({ text: JSON.stringify(['busbar', 99, 2, '']), bytes: [] }))
    })
    await once(server.listen({ path: join(folder, 'link') }), 'listening')
    await assert.rejects(dialUnix(join(folder, 'link'), { worker: 1, secret }), {
      code: 'LINK_LOST',
      message: /speaks version 99 of the protocol/,
    })
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })

  it('may send no packet above the limit after its hello either', async () => {
    await using place = await listening()
    const socket = connect({ path: place.path })
    socket.on('error', () => {}).resume()
    socket.write(bytesOf(helloPacket({ worker: 1, secret })))
    const link = createLink(await place.taken, { peer: 1, answer: () => ({}) })
    const claim = Buffer.alloc(8)
    claim.writeUInt32LE(maxPacket + 1, 0)
    socket.write(claim)
    const { code, message } = await link.closed
    assert.deepEqual(
      [code, message],
      ['LINK_LOST', `worker 1 sent a packet of ${maxPacket + 9} bytes, more than ${maxPacket}`],
    )
    if (!socket.closed) await once(socket, 'close')
  })
})

/** A link, and the bare transport at its other end. */
function talkedTo(options: Partial<LinkOptions> = {}): {
  link: ReturnType<typeof createLink>
  peer: PacketTransport
  callee: Callee
} {
  const callee = new Callee()
  const [near, far] = loopbackTransports()
  const link = createLink(near, { peer: 1, answer: callee.answer, ...options })
  far.open({ onPacket() {}, onPart() {}, onDrain() {}, onClose() {} })
  return { link, peer: far, callee }
}

/** Drops, doubles, swaps or replaces some characters. */
function mutated(text: string, chance: SeededRandom): string {
  let result = text
  for (let times = chance.below(4); times >= 0; times--) {
    const at = chance.below(result.length)
    const piece = chance.of([
      '',
      '0',
      '-1',
      ',',
      '[',
      ']',
      '"',
      'null',
      '{"$bytes":0}',
      '1e999',
      result.slice(at, at + 9),
    ])
    result = result.slice(0, at) + piece + result.slice(at + chance.below(3))
  }
  return result
}

function bytesOf(packet: Packet): Uint8Array {
  return Buffer.concat(encodePacket(packet))
}

async function listening() {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-strangers-'))
  const path = join(folder, 'link')
  const taken = Promise.withResolvers<PacketTransport>()
  const refused = Promise.withResolvers<Error>()
  const listener = await listenUnix(
    path,
    { worker: 2, secret },
    ({ transport }) => taken.resolve(transport),
    (error) => refused.resolve(error),
  )
  return {
    path,
    taken: taken.promise,
    refused: refused.promise,
    async [Symbol.asyncDispose]() {
      await listener.close()
      await rm(folder, { recursive: true })
    },
  }
}
