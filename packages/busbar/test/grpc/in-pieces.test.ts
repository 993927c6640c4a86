import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http2'
import { after, before, describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { frame, headLength } from '../../src/contract/grpc/framing.ts'
import { Codecs } from '../../src/contract/protobuf/codec.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { things } from './programs/app/things/contract.ts'
import { ThingsSession } from './support/things-session.ts'

/** However the bytes of a call come, and however large its answer is, the answer is the same. */
describe('a gRPC call', () => {
  const codecs = new Codecs(toProtoFile(things).messages)
  const request = codecs.of('EchoRequest')
  const response = codecs.of('EchoResponse')
  const value = {
    id: -1,
    title: 'a thing',
    isNew: true,
    price: 1.5,
    count: 3,
    total: 7n,
    made: new Date(0),
    raw: new Uint8Array([1, 2]),
    owner: null,
    parts: [{ name: 'part' }],
    sizes: [1, 2],
    labels: { a: 'b' },
    mixed: ['x'],
  }
  let session: ThingsSession

  before(async () => {
    session = await ThingsSession.start()
  })
  after(() => session[Symbol.asyncDispose]())

  async function answerTo(
    method: string,
    pieces: readonly Uint8Array[],
    headers: Record<string, string> = {},
  ): Promise<{ body: Buffer; trailers: IncomingHttpHeaders }> {
    const stream = session.open(method, headers)
    const parts: Buffer[] = []
    let trailers: IncomingHttpHeaders = {}
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('trailers', (found) => (trailers = found))
    const ended = once(stream, 'close')
    const [last] = pieces.slice(-1)
    for (const piece of pieces.slice(0, -1)) {
      stream.write(piece)
      await session.settled()
    }
    stream.end(last)
    await ended
    return { body: Buffer.concat(parts), trailers }
  }

  async function echoed(sent: typeof value, cut: (framed: Uint8Array) => Uint8Array[]): Promise<void> {
    const { body, trailers } = await answerTo('Echo', cut(frame(request.encode(sent))))
    assert.equal(trailers['grpc-status'], '0')
    assert.equal(body.readUInt32BE(1), body.length - headLength)
    assert.deepEqual(response.decode(body.subarray(headLength)), sent)
  }

  it('in one piece, in several, and with its end by itself', async () => {
    await echoed(value, (framed) => [framed])
    await echoed(value, (framed) => [framed, new Uint8Array()])
    for (const at of [1, 4, 5, 6, 20]) await echoed(value, (framed) => [framed.subarray(0, at), framed.subarray(at)])
    await echoed(value, (framed) => [framed.subarray(0, 3), framed.subarray(3, 9), framed.subarray(9)])
    await echoed(value, (framed) => [new Uint8Array(), framed])
  })

  it('with large messages', async () => {
    for (const length of [900, 16_000, 17_000, 70_000, 131_000, 132_000, 300_000])
      await echoed({ ...value, title: 'é'.repeat(length) }, (framed) => [framed])
    await echoed(value, (framed) => [framed])
  })

  it('a hundred at a time', async () => {
    const each = Array.from({ length: 100 }, (_, id) => echoed({ ...value, id }, (framed) => [framed]))
    await Promise.all(each)
  })

  it('with compression, in both directions, also when it takes another thread', async () => {
    const expand = async (raw: Buffer): Promise<void> => {
      const sent = { ...value, raw: new Uint8Array(raw) }
      const framed = frame(gzipSync(request.encode(sent)), true)
      const { body, trailers } = await answerTo('Echo', [framed], { 'grpc-encoding': 'gzip' })
      assert.equal(trailers['grpc-status'], '0')
      assert.equal(body[0], 1)
      assert.deepEqual(response.decode(gunzipSync(body.subarray(headLength))), sent)
    }
    await expand(Buffer.from([1]))
    await Promise.all(Array.from({ length: 60 }, (_, at) => expand(randomBytes(15_000 + at * 100))))
  })

  it('of many messages in one piece', async () => {
    const number = codecs.of('SumRequest')
    const all = Buffer.concat([1, 2, 3].map((n) => frame(number.encode({ n }))))
    for (const pieces of [[all], [all.subarray(0, 8), all.subarray(8)], [all, new Uint8Array()]]) {
      const { body } = await answerTo('Sum', pieces)
      assert.deepEqual(codecs.of('SumResponse').decode(body.subarray(headLength)), { total: 6, count: 3 })
    }
  })
})
