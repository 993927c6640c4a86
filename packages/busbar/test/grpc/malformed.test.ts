import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { frame as message } from '../../src/contract/grpc/framing.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { endHeaders, endStream, frame, frameType, literal, preface, settings } from '../entrance/http2-frames.ts'
import { things } from './programs/app/things/contract.ts'
import { stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const { data, headers, goaway } = frameType
const none = 0
const find = message(new Uint8Array([0x0a, 1, 0x61]))

function head(more: Readonly<Record<string, string>> = {}): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/test.v1.ThingService/GetThing',
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  }
  const block = Object.entries(fields).flatMap(([name, value]) => literal(name, value))
  return frame(headers, endHeaders, 1, block)
}

/** What is malformed behind a head costs its client the connection, and nobody else anything. */
describe('a client that sends in one piece', () => {
  const cases: [string, Buffer[]][] = [
    ['data behind the end of a call', [head(), frame(data, endStream, 1, find), frame(data, none, 1, find)]],
    ['another length than it has stated', [head({ 'content-length': '3' }), frame(data, endStream, 1, find)]],
  ]
  for (const [what, frames] of cases)
    it(`${what} leaves the calls of others alone`, async () => {
      await using app = await startThings()
      const stub = await stubOf(printProto(toProtoFile(things)), 'test.v1.ThingService', addressOf(app))
      const other = unary(stub, 'Slow', { ms: 500 })
      await unary(stub, 'GetThing', { id: 'a' })
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
      socket.on('error', () => {}).resume()
      socket.write(Buffer.concat([preface, settings, ...frames]))
      await Promise.race([once(socket, 'close'), other])
      socket.destroy()
      assert.deepEqual(await other, { items: ['done'] })
      assert.deepEqual(await unary(stub, 'GetThing', { id: 'a' }), { id: 'a' })
      assert.ok(!app.log.some(({ line }) => line.includes('died')))
      stub.close()
    })
})

describe('a client that streams', () => {
  /** h2 ends a connection with some 2,000 of them that no task has taken from it. */
  it('3,000 small messages in one piece gets its answer', async () => {
    await using app = await startThings()
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    const small = frame(data, none, 1, message(new Uint8Array([0x08, 1])))
    const messages = Array.from({ length: 3000 }, () => small)
    const end = frame(data, endStream, 1, Buffer.alloc(0))
    socket.write(Buffer.concat([preface, settings, head({ ':path': '/test.v1.ThingService/Sum' }), ...messages, end]))
    let received = Buffer.alloc(0)
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer])
      const types = typesIn(received)
      assert.ok(!types.includes(goaway), received.toString('latin1'))
      if (types.filter((type) => type === headers).length === 2) return
    }
    assert.fail('the connection has ended')
  })
})

/** Of the frames. */
function typesIn(bytes: Buffer): number[] {
  const types: number[] = []
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3]!)
  return types
}
