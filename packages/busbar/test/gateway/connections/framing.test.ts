import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isNative } from '../../support/app/wanted-entrance.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'

/** Requests that two programs may split into messages differently are rejected (RFC 9112, 11.2). */
describe('ambiguous framing', () => {
  let gateway: TestGateway
  const reached: string[] = []
  before(async () => {
    gateway = await TestGateway.start({
      services: {
        web(req, res) {
          reached.push(`${req.method} ${req.url}`)
          req.resume().on('end', () => res.end('ok'))
          req.on('error', () => {})
        },
      },
      entry: 'web',
    })
  })
  after(() => gateway[Symbol.asyncDispose]())

  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
  const cases: Record<string, string> = {
    'a length beside chunks': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks beside a length': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    'two lengths': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    'two lengths in one': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n${smuggled}`,
    'a signed length': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc`,
    'a length in hexadecimal': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc`,
    'an unknown encoding': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks that are not last': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks named with a vertical tab': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'a folded header': `GET / HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\r\n`,
    'a space before a colon': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc`,
    'a header without a colon': `GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n`,
    'a header with a null byte': `GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n`,
    'a header name with a null byte': `GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n`,
    'a bare line feed between headers': `GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n`,
    'bare line feeds': `GET / HTTP/1.1\nHost: a\n\n`,
    'a bare carriage return': `GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n`,
    'a chunk size that is no number': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`,
    'a chunk that ends late': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n`,
    'a chunk size followed by a bare line feed': `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n`,
    'no Host': `GET / HTTP/1.1\r\n\r\n`,
    'two Hosts': `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    'a Host that is a path': `GET / HTTP/1.1\r\nHost: a/b\r\n\r\n`,
    'a Host with credentials': `GET / HTTP/1.1\r\nHost: a@b\r\n\r\n`,
    'an unknown version': `GET / HTTP/1.9\r\nHost: a\r\n\r\n`,
    'no HTTP at all': `hello\r\n\r\n`,
    'a space in the target': `GET /a b HTTP/1.1\r\nHost: a\r\n\r\n`,
    'a null byte in the target': `GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n`,
  }
  for (const [what, request] of Object.entries(cases))
    it(`with ${what} is 400, and no later request is served`, async () => {
      reached.length = 0
      const client = await gateway.raw()
      client.write(request)
      await client.until(/^HTTP\/1\.1 400 /)
      client.write(smuggled.replace('Host', 'Connection: close\r\nHost'))
      const answer = await client.closed()
      assert.match(answer, /application\/problem\+json/)
      assert.doesNotMatch(answer, /HTTP\/1\.1 200/)
      assert.ok(!reached.includes('GET /smuggled'))
    })
})

describe('pipelining', () => {
  it('answers ten pipelined requests on each of 100 connections, in order', async () => {
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          // Later requests are answered first by the service.
          const turn = Number(req.url!.slice(1))
          setTimeout(() => res.end(`<${turn}>`), 10 - turn)
        },
      },
    })
    const requests = Array.from({ length: 10 }, (_, turn) => `GET /shop/${turn} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
    const answers = Array.from({ length: 100 }, async () => {
      const client = await gateway.raw()
      client.write(requests)
      const received = await client.until(/<9>$/)
      client.socket.destroy()
      return [...received.matchAll(/<(\d)>/g)].map(([, turn]) => turn).join('')
    })
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['0123456789']))
  })

  it('answers requests before malformed input', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (_, res) => void setTimeout(() => res.end('first'), 50) },
    })
    const answer = await gateway.send('GET /shop HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n')
    if (isNative) assert.match(answer, /^HTTP\/1\.1 200 [^]*firstHTTP\/1\.1 400 [^]*REQUEST_MALFORMED/i)
    else assert.match(answer, /^HTTP\/1\.1 200 [^]*connection: close\r\n[^]*first$/i)
  })

  it('disconnects a client that pipelines without limit', async () => {
    const asked: string[] = []
    await using gateway = await TestGateway.start({ services: { shop: (req) => void asked.push(req.url!) } })
    const client = await gateway.raw()
    // The native entrance begins one, and reads 64 KiB ahead. The end of its client is behind
    // those.
    const [sent, most] = isNative ? [1000, 1] : [3000, 1000]
    client.write('GET /shop HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(sent))
    while (asked.length < most) await new Promise(setImmediate)
    client.socket.destroy()
    while (gateway.gateway.inFlight > 0) await new Promise(setImmediate)
    assert.ok(asked.length <= most + 1, `${asked.length} requests were served at once`)
  })
})
