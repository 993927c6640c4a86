import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { frame } from '../../src/contract/grpc/framing.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { things } from './programs/app/things/contract.ts'
import { stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const [data, headers, settings] = [0, 1, 4]
const [none, endStream, endHeaders] = [0, 1, 4]
const find = frame(new Uint8Array([0x0a, 1, 0x61]))

function frameOf(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header.set([type, flags], 3)
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/** Literals without an index or Huffman's code (RFC 7541, 6.2.2). */
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
  const literal = ([name, value]: [string, string]): Buffer =>
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])
  return frameOf(headers, endHeaders, 1, Buffer.concat(Object.entries(fields).map(literal)))
}

const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frameOf(settings, none, 0, Buffer.alloc(0)),
])

/** What is malformed behind a head costs its client the connection, and nobody else anything. */
describe('a client that sends in one piece', () => {
  const cases: [string, Buffer[]][] = [
    ['data behind the end of a call', [head(), frameOf(data, endStream, 1, find), frameOf(data, none, 1, find)]],
    ['another length than it has stated', [head({ 'content-length': '3' }), frameOf(data, endStream, 1, find)]],
  ]
  for (const [what, frames] of cases)
    it(`${what} leaves the calls of others alone`, async () => {
      await using app = await startThings()
      const stub = await stubOf(printProto(toProtoFile(things)), 'test.v1.ThingService', addressOf(app))
      const other = unary(stub, 'Slow', { ms: 500 })
      await unary(stub, 'GetThing', { id: 'a' })
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
      socket.on('error', () => {}).resume()
      socket.write(Buffer.concat([preface, ...frames]))
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
    const message = frameOf(data, none, 1, frame(new Uint8Array([0x08, 1])))
    const messages = Array.from({ length: 3000 }, () => message)
    const end = frameOf(data, endStream, 1, Buffer.alloc(0))
    socket.write(Buffer.concat([preface, head({ ':path': '/test.v1.ThingService/Sum' }), ...messages, end]))
    const goAway = 7
    let received = Buffer.alloc(0)
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer])
      const types = typesIn(received)
      assert.ok(!types.includes(goAway), received.toString('latin1'))
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
