import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Metadata } from '@grpc/grpc-js'
import { client } from '../../src/contract/client-entry.ts'
import { printProto } from '../../src/contract/protobuf/print.ts'
import { toProtoFile } from '../../src/contract/protobuf/proto-file.ts'
import { grpcStatus } from '../../src/contract/grpc/statuses.ts'
import { frame } from '../../src/contract/grpc/framing.ts'
import type { TestApp } from '../support/app/test-app.ts'
import { isNative } from '../support/app/wanted-entrance.ts'
import { things } from './programs/app/things/contract.ts'
import { failureOf, stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

interface Ending {
  readonly status: number | undefined
  readonly message: string
  readonly http: number | undefined
}

/** What a client does wrong gets a status, and the next call is answered. */
describe('faults of gRPC clients', () => {
  let app: TestApp
  let session: ClientHttp2Session

  before(async () => {
    app = await startThings({}, (loaded) => ({
      ...loaded,
      limits: { ...loaded.limits, maxInputSize: 1000 },
    }))
    session = connect(app.url)
    await once(session, 'connect')
  })
  after(async () => {
    session.destroy()
    await app[Symbol.asyncDispose]()
  })

  function open(method: string, headers: Record<string, string> = {}): ClientHttp2Stream {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/test.v1.ThingService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    stream.on('error', () => {})
    return stream
  }

  async function send(method: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<Ending> {
    const stream = open(method, headers)
    if (headers[':method'] !== 'GET') stream.end(body)
    return await endingOf(stream)
  }

  const id = (text: string): Uint8Array => new Uint8Array([0x0a, text.length, ...Buffer.from(text)])

  it('malformed frames and messages', async () => {
    const find = frame(id('a'))
    const cases: [string, Uint8Array, keyof typeof grpcStatus, RegExp?][] = [
      ['an unknown flag', new Uint8Array([7, 0, 0, 0, 0]), 'INTERNAL', /flag/],
      ['half a head', find.subarray(0, 3), 'INTERNAL', /in the middle/],
      ['half a message', find.subarray(0, 6), 'INTERNAL', /in the middle/],
      ['no message', new Uint8Array(), 'UNIMPLEMENTED', /exactly one/],
      ['two messages', Buffer.concat([find, find]), 'UNIMPLEMENTED', /exactly one/],
      ['no protobuf', frame(new Uint8Array([0x0a, 0xff])), 'INTERNAL', /cannot be read/],
      ['no UTF-8', frame(new Uint8Array([0x0a, 2, 0xff, 0xfe])), 'INTERNAL', /cannot be read/],
      ['a message beyond the limit', frame(id('x'.repeat(100)).subarray(0, 90)), 'INTERNAL'],
      [
        'a length beyond the limit',
        new Uint8Array([0, 0x7f, 0xff, 0xff, 0xff]),
        'RESOURCE_EXHAUSTED',
        /1000 are allowed/,
      ],
      ['compression without a name', frame(id('a'), true), 'INTERNAL', /grpc-encoding/],
    ]
    for (const [name, body, expected, message = /./] of cases) {
      const ending = await send('GetThing', body)
      assert.equal(ending.status, grpcStatus[expected], `${name}: ${ending.message}`)
      assert.match(ending.message, message, name)
    }
  })

  it('messages that grow when they are expanded', async () => {
    const gzip = { 'grpc-encoding': 'gzip' }
    assert.equal((await send('GetThing', frame(gzipSync(id('a')), true), gzip)).status, grpcStatus.OK)
    const bomb = frame(gzipSync(Buffer.alloc(1_000_000)), true)
    assert.equal((await send('GetThing', bomb.subarray(0, 5), gzip)).status, grpcStatus.RESOURCE_EXHAUSTED)
    const small = frame(gzipSync(Buffer.alloc(100_000)), true)
    assert.equal((await send('GetThing', small, gzip)).status, grpcStatus.RESOURCE_EXHAUSTED)
    assert.equal((await send('GetThing', frame(new Uint8Array([1, 2]), true), gzip)).status, grpcStatus.INTERNAL)
    assert.equal(
      (await send('GetThing', frame(id('a')), { 'grpc-encoding': 'snappy' })).status,
      grpcStatus.UNIMPLEMENTED,
    )
  })

  it('heads that are not of gRPC', async () => {
    assert.equal((await send('GetThing', frame(id('a')), { 'grpc-timeout': 'soon' })).status, grpcStatus.INTERNAL)
    // Over HTTP/2, the portable gateway serves gRPC only.
    const asJson = await send('GetThing', frame(id('a')), { 'content-type': 'application/json' })
    assert.equal(asJson.http, isNative ? 404 : 415)
    assert.equal((await send('GetThing', frame(id('a')), { 'content-type': 'application/grpc+json' })).http, 415)
    assert.equal((await send('GetThing', new Uint8Array(), { ':method': 'GET' })).http, 405)
    assert.equal((await send('Nothing', frame(id('a')))).status, grpcStatus.UNIMPLEMENTED)
    assert.equal((await send('', frame(id('a')), { ':path': '/' })).status, grpcStatus.UNIMPLEMENTED)
    assert.equal(
      (await send('GetThing', frame(id('a')), { 'grpc-timeout': '0n' })).status,
      grpcStatus.DEADLINE_EXCEEDED,
    )
    const head = open('GetThing', { ':method': 'HEAD' })
    assert.equal((await endingOf(head)).http, 405)
    assert.equal(head.rstCode, constants.NGHTTP2_NO_ERROR)
  })

  it('as many fields as over HTTP/1.1', async () => {
    const fields = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`x-${at}`, '1']))
    assert.equal((await send('GetThing', frame(id('a')), fields)).status, grpcStatus.OK)
  })

  it('a client that does not read holds one value at a time', async () => {
    const stream = open('Numbers')
    stream.pause()
    stream.end(frame(new Uint8Array([0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03, 0x10, 0xe8, 0x07])))
    await once(stream, 'response')
    assert.equal((await send('GetThing', frame(id('a')))).status, grpcStatus.OK)
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
  })

  it('a storm of resets', async () => {
    const other = connect(app.url)
    other.on('error', () => {})
    const closed = new Promise<void>((resolve) => other.once('close', resolve))
    await once(other, 'connect')
    for (let at = 0; at < 2000 && !other.destroyed && !other.closed; at++) {
      const stream = other.request({
        ':method': 'POST',
        ':path': '/test.v1.ThingService/Slow',
        'content-type': 'application/grpc',
      })
      stream.on('error', () => {})
      stream.close(constants.NGHTTP2_CANCEL)
      if (at % 100 === 99) await new Promise(setImmediate)
    }
    assert.equal((await send('GetThing', frame(id('a')))).status, grpcStatus.OK)
    other.destroy()
    await closed
  })

  it('bytes that are not HTTP/2, and connections that say nothing', async () => {
    // A busy client of `app` might not answer a ping in so short a time.
    await using short = await startThings({}, (loaded) => ({
      ...loaded,
      limits: { ...loaded.limits, headerTimeout: 1000 },
    }))
    for (const text of ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\0nonsense of all kinds', 'PRI', '']) {
      const socket = connectSocket(short.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(text)
      socket.resume()
      await once(socket, 'close')
    }
    await using remote = client(things, `grpc://${addressOf(short)}`)
    assert.deepEqual(await remote.find({ id: 'a' }), { id: 'a' })
  })

  it('does not disturb HTTP/1.1 on the same port', async () => {
    const answer = await fetch(`${app.url}/things/find`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"x"}',
    })
    assert.deepEqual(await answer.json(), { id: 'x' })
  })
})

describe('a worker that dies in mid-call', () => {
  it('ends calls and streams as unavailable', async () => {
    await using app = await startThings({ run: 'process' })
    const session = connect(app.url)
    session.on('error', () => {})
    const request = (method: string, body: Uint8Array): ClientHttp2Stream => {
      const stream = session.request({
        ':method': 'POST',
        ':path': `/test.v1.ThingService/${method}`,
        'content-type': 'application/grpc',
      })
      stream.on('error', () => {})
      stream.end(frame(body))
      return stream
    }
    const slow = endingOf(request('Slow', new Uint8Array([0x08, 0xe0, 0xd4, 0x03])))
    const stream = request('Numbers', new Uint8Array([0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03]))
    await once(stream, 'data')
    const numbers = endingOf(stream)
    const { pid } = app.running.status().workers.find(({ pid: own }) => own !== process.pid)!
    process.kill(pid!, 'SIGKILL')
    for (const { status } of await Promise.all([slow, numbers])) assert.equal(status, grpcStatus.UNAVAILABLE)
    session.destroy()
  })
})

describe('the worker of the gateway dies in mid-call', () => {
  it('ends calls and streams as unavailable, and the next worker answers', async () => {
    await using app = await startThings({ run: 'shared' })
    const stub = await stubOf(printProto(toProtoFile(things)), 'test.v1.ThingService', addressOf(app))
    const slow = failureOf(unary(stub, 'Slow', { ms: 60_000 }))
    const numbers = stub['Numbers']({ to: 1_000_000_000, size: 10 })
    await once(numbers, 'data')
    const cut = once(numbers, 'error')
    const dying = failureOf(unary(stub, 'Dies', {}))
    const [[error], ...others] = await Promise.all([cut, slow, dying])
    for (const { code } of [error as { code: number }, ...others]) assert.equal(code, grpcStatus.UNAVAILABLE)
    const metadata = new Metadata({ waitForReady: true })
    assert.deepEqual(await unary(stub, 'GetThing', { id: 'a' }, metadata), { id: 'a' })
    stub.close()
  })
})

describe('a worker that is busy', () => {
  it('holds up no call that another one can answer', async () => {
    await using app = await startThings({ run: 'shared' }, (loaded) => ({ ...loaded, workers: 2 }))
    const stub = await stubOf(printProto(toProtoFile(things)), 'test.v1.ThingService', addressOf(app))
    for (let round = 0; round < 3; round++) {
      const busy = unary(stub, 'Busy', { ms: 300 })
      // Its worker has taken it, and not the calls after it.
      await sleep(30)
      const calls = Array.from({ length: 20 }, () => unary(stub, 'GetThing', { id: 'a' }))
      await Promise.all([busy, ...calls])
    }
    stub.close()
  })
})

/** The end of a call: by its trailers, or by its head alone. */
async function endingOf(stream: ClientHttp2Stream): Promise<Ending> {
  let head: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (headers) => (head = headers))
  stream.on('trailers', (fields) => (trailers = fields))
  stream.resume()
  await once(stream, 'close')
  const text = (trailers['grpc-status'] ?? head['grpc-status']) as string | undefined
  const message = (trailers['grpc-message'] ?? head['grpc-message'] ?? '') as string
  return {
    status: text === undefined ? undefined : Number(text),
    message: decodeURIComponent(message),
    http: Number(head[':status']),
  }
}
