import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientHttp2Stream } from 'node:http2'
import { after, before, describe, it } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { frame } from '../../src/contract/grpc/framing.ts'
import { ThingsSession } from './support/things-session.ts'

/** The calls of a connection share its window: what is consumed must not fill it. */
describe('calls that last', () => {
  let session: ThingsSession

  before(async () => {
    session = await ThingsSession.start()
  })
  after(() => session[Symbol.asyncDispose]())

  /** Its end by the test is no error. */
  function open(method: string): ClientHttp2Stream {
    return session.open(method).on('error', () => {})
  }

  /** A message with one number, and a field that the service does not know. */
  function padded(number: number, length: number): Uint8Array {
    const writer = new BinaryWriter().tag(1, WireType.Varint).int64(number)
    return frame(writer.tag(15, WireType.LengthDelimited).bytes(new Uint8Array(length)).finish())
  }

  async function isAnswered(): Promise<void> {
    const call = open('GetThing')
    call.end(frame(new Uint8Array([0x0a, 1, 0x61])))
    const [trailers] = (await once(call.resume(), 'trailers')) as [Record<string, string>]
    assert.equal(trailers['grpc-status'], '0')
  }

  it('let others of their connection send, after messages that were read', async () => {
    const streams = Array.from({ length: 60 }, () => open('Doubled'))
    for (const stream of streams) stream.write(padded(1, 30_000))
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    await isAnswered()
    for (const stream of streams) stream.destroy()
  })

  it('let others of their connection send, after a message that was all', async () => {
    const calls = Array.from({ length: 100 }, () => open('Slow'))
    for (const call of calls) call.end(padded(60_000, 15_000))
    await isAnswered()
    for (const call of calls) call.destroy()
  })
})
