/** Clients reset each call that they cancel, and each whose deadline passes. */
import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { describe, it } from 'node:test'
import { frame as message } from '../../src/contract/grpc/framing.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import {
  endHeaders,
  endStream,
  frame,
  FrameClient,
  frameType,
  literal,
  preface,
  settings,
  word,
} from '../entrance/http2-frames.ts'
import { pollUntil, type TestApp } from '../support/app/test-app.ts'
import { wantedEntrance } from '../support/app/wanted-entrance.ts'
import { things } from './programs/app/things/contract.ts'
import { type Stub, stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const proto = printProto(toProtoFile(things))
const connectTo = (app: TestApp): Promise<Stub> => stubOf(proto, 'test.v1.ThingService', addressOf(app))

async function openFrames(app: TestApp): Promise<FrameClient> {
  const client = await FrameClient.openPlain(app.port)
  await client.send(preface, settings, frame(frameType.settings, 1, 0, []))
  return client
}

/** The server has read what was sent before, and goes on. */
async function isOpen(client: FrameClient): Promise<void> {
  const answers = client.seen.get(frameType.ping) ?? 0
  await client.send(frame(frameType.ping, 0, 0, [...word(0), ...word(answers)]))
  await pollUntil(
    () => (client.seen.get(frameType.ping) ?? 0) > answers || !client.isOpen,
    () => client.seen,
  )
  assert.equal(client.goaway, undefined)
  assert.equal(client.isOpen, true)
}

const minute = message(new Uint8Array([0x08, 0xe0, 0xd4, 0x03]))

/** A call of a minute. `n`: the number of the call in its connection. */
function slow(n: number): Buffer {
  return Buffer.concat([begun(n), frame(frameType.data, endStream, 2 * n + 1, minute)])
}

/** Its head. */
function begun(n: number): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/test.v1.ThingService/Slow',
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
  }
  const block = Object.entries(fields).flatMap(([name, value]) => literal(name, value))
  return frame(frameType.headers, endHeaders, 2 * n + 1, block)
}

const reset = (n: number): Buffer => frame(frameType.reset, 0, 2 * n + 1, word(constants.NGHTTP2_CANCEL))

/** The calls from `from` on. */
function times(from: number, count: number, make: (n: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, n) => make(from + n)))
}

describe('calls that their clients reset', () => {
  it('fail no other call of their connection, however many wait', async () => {
    await using app = await startThings()
    const stub = await connectTo(app)
    await unary(stub, 'GetThing', { id: 'a' })
    for (let round = 0; round < 3; round++) {
      const cancelled = stub.Slow({ ms: 60_000 }, () => {})
      const edge = () => app.running.status().edges.find(({ method }) => method === 'slow')
      await pollUntil(() => edge()?.inFlight === 1, edge)
      cancelled.cancel()
      const ids = Array.from({ length: 600 }, (_, n) => ({ id: String(n) }))
      assert.deepEqual(await Promise.all(ids.map((id) => unary(stub, 'GetThing', id))), ids)
    }
    stub.close()
  })

  const ofNative = 'the native entrance has a limit of its own'
  const onlyPortable = { skip: wantedEntrance === 'native' && ofNative }

  it('may be far more than 1,000', onlyPortable, async () => {
    await using app = await startThings()
    const client = await openFrames(app)
    const batch = 180
    for (let n = 0; n < 10; n++) {
      await client.send(times(n * batch, batch, slow))
      await client.send(times(n * batch, batch, reset))
      await isOpen(client)
    }
    client.socket.destroy()
  })

  it('may be replaced by as many at the limit', onlyPortable, async () => {
    await using app = await startThings()
    const client = await openFrames(app)
    await client.send(times(0, 1024, slow))
    await isOpen(client)
    await client.send(times(0, 500, reset), times(1024, 500, slow))
    await isOpen(client)
    client.socket.destroy()
  })

  it('end their connection if they are a flood, and no other', async () => {
    await using app = await startThings()
    const stub = await connectTo(app)
    await unary(stub, 'GetThing', { id: 'a' })
    const client = await openFrames(app)
    const batch = 500
    for (let n = 0; n < 200 && client.isOpen; n++)
      await client.send(times(n * batch, batch, (one) => Buffer.concat([begun(one), reset(one)])))
    await client.closed
    // Undefined: the connection was reset before it could be read.
    const codes = [undefined, constants.NGHTTP2_INTERNAL_ERROR, constants.NGHTTP2_ENHANCE_YOUR_CALM]
    assert.ok(codes.includes(client.goaway), String(client.goaway))
    assert.deepEqual(await unary(stub, 'GetThing', { id: 'a' }), { id: 'a' })
    stub.close()
  })
})
