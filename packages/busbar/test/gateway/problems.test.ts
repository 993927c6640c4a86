import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { describe, it } from 'node:test'
import { BusbarError } from '../../src/contract/errors.ts'
import { isNative } from '../support/app/wanted-entrance.ts'
import { TestGateway } from '../support/http/test-gateway.ts'

const silent = () => {}

describe('an error response', () => {
  it('is 503 with Retry-After while the service is not serving', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent } })
    gateway.endpoints.get('shop')!.state = 'draining'
    const response = await fetch(gateway.url('/shop'))
    assert.equal(response.headers.get('retry-after'), '1')
    await isProblem(response, 503, 'SERVICE_UNAVAILABLE')
  })

  it('has the requested path as its instance, whatever the route and the service change', async () => {
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          req.url = '/rewritten'
          res.destroy()
        },
      },
      entry: 'shop',
      routes: { '/cut': 'shop' },
    })
    for (const path of ['/cut/x', '/any/x']) {
      const problem = await isProblem(await fetch(gateway.url(`${path}?secret=1`)), 502, 'SERVICE_HANGUP')
      assert.equal(problem['instance'], path)
    }
  })

  it('is 413 at once if the stated length is too large', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { maxBodySize: 10 } })
    const response = await fetch(gateway.url('/shop'), { method: 'POST', body: 'x'.repeat(11) })
    await isProblem(response, 413, 'BODY_TOO_LARGE')
  })

  it('is 413 before a large body is sent, for a client that waits for 100-continue', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { maxBodySize: 10 } })
    const answer = await gateway.send(
      'POST /shop HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 413 /)
  })

  it('reaches a client that is still sending, and then ends the connection', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { maxBodySize: 10 } })
    const client = await gateway.raw()
    client.write('POST /shop HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n')
    for (let sent = 0; sent < 3_000_000; sent += 100_000) client.write('x'.repeat(100_000))
    assert.match(await client.closed(), /^HTTP\/1\.1 413 [^[]*"code":"BODY_TOO_LARGE"[^[]*$/)
  })

  it('keeps the connection usable after a small unread body', async () => {
    await using gateway = await TestGateway.start({ services: { shop: (_, res) => void res.end('ok') } })
    const client = await gateway.raw()
    client.write('POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello')
    client.write('GET /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.match(await client.closed(), /^HTTP\/1\.1 404 [^]*HTTP\/1\.1 200 OK[^]*ok$/)
  })

  it('ends the connection if it is for a service that has not answered', async () => {
    await using gateway = await TestGateway.start({ services: { shop: (_, res) => void res.destroy() } })
    const client = await gateway.raw()
    client.write('GET /shop HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.match(await client.closed(), /^HTTP\/1\.1 502 [^]*\r\nconnection: close\r\n/i)
  })

  it('has no body for HEAD, but the headers of GET', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent } })
    const head = await gateway.send('HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const get = await gateway.send('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.match(head, /\r\n\r\n$/)
    const length = /content-length: (\d+)/i
    assert.equal(length.exec(head)![1], length.exec(get)![1])
  })

  it('has no body for HEAD where the head of the request is refused', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { maxHeaderSize: 1000 } })
    const heads = {
      431: `X: ${'x'.repeat(2000)}\r\n\r\n`,
      400: 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    }
    for (const [status, fields] of Object.entries(heads)) {
      const head = `HEAD /shop HTTP/1.1\r\nHost: a\r\n${fields}`
      const client = await gateway.raw()
      client.write('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.until(/ROUTE_NOT_FOUND[^]*}$/)
      client.write(head)
      const later = /}(?<answer>HTTP[^]*)$/.exec(await client.closed())!.groups!['answer']!
      for (const answer of [await gateway.send(head), later])
        assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\n\r\n$`))
    }
  })

  it('is 413 when a body of unknown length grows too large, and the service sees a disconnect', async () => {
    const aborted = Promise.withResolvers<string>()
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          let size = 0
          req.on('data', (chunk: Buffer) => (size += chunk.length))
          req.on('error', (error) => aborted.resolve(`${error.message} after ${size}`))
          req.on('end', () => res.end('whole'))
        },
      },
      limits: { maxBodySize: 10 },
    })
    const client = await gateway.raw()
    client.write('POST /shop HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n')
    client.write('8\r\n12345678\r\n8\r\n12345678\r\n')
    await isProblemText(await client.closed(), 413, 'BODY_TOO_LARGE')
    assert.equal(await aborted.promise, 'aborted after 8')
  })

  it('does not occur for a body of unknown length up to the limit', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (req, res) => void req.pipe(res) },
      limits: { maxBodySize: 16 },
    })
    const body = new Blob(['12345678', '12345678']).stream()
    const response = await fetch(gateway.url('/shop'), { method: 'POST', body, duplex: 'half' })
    assert.equal(await response.text(), '1234567812345678')
  })

  it('is 431 for headers that are too large', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { maxHeaderSize: 1000 } })
    await isProblemText(
      await gateway.send(`GET /shop HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(2000)}\r\n\r\n`),
      431,
      'HEADERS_TOO_LARGE',
    )
  })

  it('is 408 when headers do not arrive in time', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent }, limits: { headerTimeout: 100 } })
    await isProblemText(await gateway.send('GET /shop HTTP/1.1\r\nHost: a\r\n'), 408, 'REQUEST_TIMEOUT')
  })

  it('is 408 when a body does not arrive in time', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (req) => void req.resume().on('error', silent) },
      limits: { headerTimeout: 100, requestTimeout: 200 },
    })
    const answer = await gateway.send('POST /shop HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc')
    await isProblemText(answer, 408, 'REQUEST_TIMEOUT')
  })

  it('is 504 when the service does not begin to respond, and the service sees a disconnect', async () => {
    const closed = Promise.withResolvers<void>()
    await using gateway = await TestGateway.start({
      services: { shop: (_, res) => void res.on('close', closed.resolve) },
      limits: { responseTimeout: 100 },
    })
    await isProblem(await fetch(gateway.url('/shop')), 504, 'RESPONSE_TIMEOUT')
    await closed.promise
    assert.deepEqual(gateway.logged, ["Service 'shop' did not begin its response within 100 ms"])
  })

  it('is not 504 for a response that has begun and takes longer', async () => {
    await using gateway = await TestGateway.start({
      services: {
        shop(_, res) {
          res.write('a')
          setTimeout(() => res.end('b'), 400)
        },
      },
      limits: { responseTimeout: 100 },
    })
    assert.equal(await (await fetch(gateway.url('/shop'))).text(), 'ab')
  })

  it('is not 504 while the client is still sending', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (req, res) => void req.resume().on('end', () => res.end('got it')) },
      limits: { responseTimeout: 100 },
    })
    const client = await gateway.raw()
    client.write('POST /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\na')
    setTimeout(() => client.write('bcd'), 400)
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*got it$/)
  })

  for (const [what, hangUp] of [
    ['its response', (_, res) => void res.destroy()],
    ['its request', (req) => void req.destroy()],
    ['its socket', (req) => void req.socket.destroy()],
    ['its response later', (_, res) => void setImmediate(() => res.destroy(new Error('no')))],
  ] as [string, RequestListener][])
    it(`is 502 when the service destroys ${what} before its response`, async () => {
      await using gateway = await TestGateway.start({ services: { shop: hangUp } })
      await isProblem(await fetch(gateway.url('/shop/x')), 502, 'SERVICE_HANGUP')
    })

  it('is a closed connection when the service closes during its response', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (_, res) => void res.write('half', () => res.destroy()) },
    })
    const answer = await gateway.send('GET /shop HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 200 [^]*half\r\n$/)
  })

  it('is 502 for all requests in flight when the thread is lost', async () => {
    const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    await using gateway = await TestGateway.start({
      services: { shop: () => asked[0].resolve(), other: () => asked[1].resolve() },
    })
    const responses = [fetch(gateway.url('/shop')), fetch(gateway.url('/other'))]
    await Promise.all(asked.map(({ promise }) => promise))
    gateway.gateway.fail(new BusbarError('WORKER_DIED', { message: 'secret' }))
    for (const response of responses) {
      const problem = await isProblem(await response, 502, 'WORKER_DIED')
      assert.doesNotMatch(JSON.stringify(problem), /secret/)
    }
  })

  it('does not occur for a program that throws: its error is its own', async (t) => {
    const thrown = new Error('from the program')
    const listeners = process.rawListeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    t.after(() => listeners.forEach((listener) => process.on('uncaughtException', listener as () => void)))
    await using gateway = await TestGateway.start({
      services: {
        shop: () => {
          throw thrown
        },
      },
    })
    const uncaught = once(process, 'uncaughtException')
    const client = await gateway.raw()
    client.write('GET /shop HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.equal((await uncaught)[0], thrown)
  })

  it('is 400 for CONNECT', async () => {
    await using gateway = await TestGateway.start({ services: { shop: silent } })
    const answer = await gateway.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')
    await isProblemText(answer, 400, 'REQUEST_MALFORMED')
  })
})

describe('counts', () => {
  it('are zero after every kind of end', async () => {
    await using gateway = await TestGateway.start({
      services: { shop: (_, res) => void res.end('ok'), slow: silent },
    })
    assert.equal((await fetch(gateway.url('/shop'))).status, 200)
    assert.equal((await fetch(gateway.url('/nothing'))).status, 404)
    const client = await gateway.raw()
    // Three pipelined requests without a response; then the client disconnects. The native entrance
    // begins only the first.
    client.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
    while (gateway.cells.inFlight < (isNative ? 1 : 3)) await new Promise(setImmediate)
    client.socket.destroy()
    while (gateway.cells.closed < 1) await new Promise(setImmediate)
    assert.deepEqual([gateway.cells.inFlight, gateway.gateway.inFlight], [0, 0])
  })
})

async function isProblem(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  assert.equal(response.status, status)
  assert.equal(response.headers.get('content-type'), 'application/problem+json')
  const problem = (await response.json()) as Record<string, unknown>
  assert.deepEqual([problem['status'], problem['code'], typeof problem['detail']], [status, code, 'string'])
  return problem
}

async function isProblemText(answer: string, status: number, code: string): Promise<void> {
  const [head, body] = answer.split('\r\n\r\n', 2) as [string, string]
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
  assert.match(head, /^connection: close$/im)
  const headers = new Headers(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(': ', 2) as [string, string]),
  )
  assert.equal(Number(headers.get('content-length')), body.length)
  await isProblem(new Response(body, { status, headers }), status, code)
}
