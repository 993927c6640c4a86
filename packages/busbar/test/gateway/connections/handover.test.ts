import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, IncomingMessage, request, ServerResponse, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { Agent, request as undiciRequest } from 'undici'
import { WebSocket, WebSocketServer } from 'ws'
import { currentScope } from '../../../src/mesh/scope.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'

const { frameworks } = (await import(new URL('../programs/frameworks.js', import.meta.url).href)) as {
  frameworks: Record<string, () => RequestListener | Promise<RequestListener>>
}

describe('a service gets the same from the gateway as from the network', () => {
  for (const [name, make] of Object.entries(frameworks))
    it(`in ${name}: path without its prefix, body, JSON response`, async () => {
      await using gateway = await TestGateway.start({ services: { shop: await make() } })
      const answers = Array.from({ length: 5 }, async (_, turn) => {
        const response = await fetch(gateway.url(`/shop/echo?turn=${turn}`), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ turn }),
        })
        return [response.status, await response.json()]
      })
      assert.deepEqual(
        await Promise.all(answers),
        Array.from({ length: 5 }, (_, turn) => [200, { url: `/echo?turn=${turn}`, body: { turn } }]),
      )
    })

  it('its connection: the client’s address, and no scope except its own', async () => {
    const stores = new AsyncLocalStorage<string>()
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          res.end(JSON.stringify([req.socket.remoteAddress, currentScope(), stores.getStore() ?? null]))
        },
      },
    })
    const response = await stores.run('of the caller', () => fetch(gateway.url('/shop')))
    assert.deepEqual(await response.json(), ['127.0.0.1', { service: 'shop', hops: 0 }, null])
  })

  it('its body, also if the program passes that on with undici', async () => {
    await using upstream = createServer(
      (req, res) => void text(req).then((body) => res.end(String(body.length))),
    ).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    await using closing = new AsyncDisposableStack()
    const agent = closing.adopt(new Agent(), (one) => one.close())
    await using gateway = await TestGateway.start({
      services: {
        async shop(req, res) {
          const options = { method: 'POST', body: req, dispatcher: agent } as const
          const { statusCode, body } = await undiciRequest(`http://127.0.0.1:${port}/`, options)
          res.writeHead(statusCode).end(await body.text())
        },
      },
    })
    const body = 'a'.repeat(1_000_000)
    for (let turn = 0; turn < 2; turn++) {
      const response = await fetch(gateway.url('/shop'), { method: 'POST', body })
      assert.deepEqual([response.status, await response.text()], [200, '1000000'])
    }
  })

  it('the close of a client that disconnects', async () => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
    await using gateway = await TestGateway.start({
      services: {
        shop(_, res) {
          asked.resolve()
          res.on('close', () => closed.resolve(res.writableFinished))
        },
      },
    })
    const client = await gateway.raw()
    client.write('GET /shop HTTP/1.1\r\nHost: a\r\n\r\n')
    await asked.promise
    client.socket.destroy()
    assert.equal(await closed.promise, false)
  })

  it('trailers, early hints and a streamed body in both directions', async () => {
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          res.writeEarlyHints({ link: '</style.css>; rel=preload' })
          res.setHeader('trailer', 'x-sum')
          req.pipe(res, { end: false })
          req.on('end', () => {
            res.addTrailers({ 'x-sum': req.trailers['x-part'] ?? 'none' })
            res.end()
          })
        },
      },
    })
    const answer = await gateway.send(
      'POST /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Part\r\n\r\n' +
        '3\r\nabc\r\n3\r\ndef\r\n0\r\nX-Part: 6\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 103 [^]*HTTP\/1\.1 200 [^]*abc[^]*def[^]*0\r\nx-sum: 6\r\n\r\n$/i)
  })
})

describe('Expect', () => {
  it('is answered 100 before the service gets the request', async () => {
    await using gateway = await TestGateway.start({ services: { shop: (req, res) => void req.pipe(res) } })
    const client = await gateway.raw()
    client.write(
      'POST /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n',
    )
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    client.write('body')
    assert.match(await client.closed(), /HTTP\/1\.1 200 [^]*body/)
  })

  it('is passed to a service that listens for it', async () => {
    const server = createServer()
    server.on('checkContinue', (_, res) => res.writeHead(402).end())
    server.on('checkExpectation', (_, res) => res.writeHead(406).end())
    await using gateway = await TestGateway.start({ services: { shop: server } })
    const head = 'POST /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n'
    assert.match(await gateway.send(`${head}Expect: 100-continue\r\n\r\n`), /^HTTP\/1\.1 402 /)
    assert.match(await gateway.send(`${head}Expect: the-best\r\n\r\n`), /^HTTP\/1\.1 406 /)
  })

  it('is 417 for an unknown expectation', async () => {
    await using gateway = await TestGateway.start({ services: { shop: () => {} } })
    const answer = await gateway.send('GET /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: the-best\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 417 /)
  })
})

describe('an upgrade', () => {
  it('carries a WebSocket to the service behind a prefix', async () => {
    const server = createServer((_, res) => void res.end('plain'))
    const sockets = new WebSocketServer({ server, path: '/live' })
    sockets.on('connection', (socket, req) => {
      socket.on('message', (data) => socket.send(`${req.url} ${(data as Buffer).toString()}`))
    })
    await using gateway = await TestGateway.start({ services: { chat: server } })
    const client = new WebSocket(gateway.url('/chat/live?x').replace('http', 'ws'))
    await once(client, 'open')
    client.send('hello')
    assert.equal(String((await once(client, 'message'))[0]), '/live?x hello')
    client.close()
    await once(client, 'close')
    assert.equal(await (await fetch(gateway.url('/chat'))).text(), 'plain')
  })

  it('passes on what the client has sent after its request', async () => {
    const server = createServer()
    server.on('upgrade', (_, socket, head: Buffer) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
      // A service in another worker gets it after its response.
      socket.unshift(head)
      socket.once('data', (early) => socket.end(early))
    })
    await using gateway = await TestGateway.start({ services: { chat: server } })
    const answer = await gateway.send('GET /chat HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nearly')
    assert.match(answer, /early$/)
  })

  it('is an ordinary request for a service without upgrades', async () => {
    await using gateway = await TestGateway.start({ services: { shop: (_, res) => void res.end('plain') } })
    const answer = await gateway.send(
      'GET /shop HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 200 [^]*plain$/)
  })

  it('is 404 if no route matches', async () => {
    await using gateway = await TestGateway.start({ services: { shop: () => {} } })
    const answer = await gateway.send('GET /x HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: x\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 404 /)
  })
})

/**
 * A server may use its own request and response classes. The gateway's objects lack their methods.
 */
describe('a server with its own classes', () => {
  class OwnRequest extends IncomingMessage {
    get secondHeader(): string | undefined {
      return this.rawHeaders[2]
    }
  }
  class OwnResponse extends ServerResponse {
    json(value: unknown): void {
      this.setHeader('content-type', 'application/json')
      this.end(JSON.stringify(value))
    }
  }
  const ownServer = (listener: (req: OwnRequest, res: OwnResponse) => void) =>
    createServer({ IncomingMessage: OwnRequest, ServerResponse: OwnResponse as never }, listener as RequestListener)

  it('gets its own objects, with path, body and headers', async () => {
    const server = ownServer((req, res) => {
      const answer = (body: string) =>
        res.json([req.method, req.url, req.secondHeader, req.headers['x-forwarded-for'], body])
      void text(req).then(answer)
    })
    await using gateway = await TestGateway.start({ services: { shop: server } })
    for (const body of ['one', 'two']) {
      const answer = await gateway.send(
        `POST /shop/x?y HTTP/1.1\r\nHost: a\r\nX-Second: 2\r\nConnection: close\r\nContent-Length: 3\r\n\r\n${body}`,
      )
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.ok(answer.endsWith(JSON.stringify(['POST', '/x?y', 'X-Second', '127.0.0.1', body])), answer)
    }
  })

  it('answers requests without a body, and HEAD', async () => {
    const server = ownServer((req, res) => res.json([req.method, req.headers['transfer-encoding'] ?? null]))
    await using gateway = await TestGateway.start({ services: { shop: server } })
    assert.deepEqual(await (await fetch(gateway.url('/shop'))).json(), ['GET', null])
    assert.deepEqual(await (await fetch(gateway.url('/shop'), { method: 'DELETE' })).json(), ['DELETE', null])
    assert.equal((await fetch(gateway.url('/shop'), { method: 'HEAD' })).status, 200)
  })

  it('sends trailers, and streams until its client disconnects', async () => {
    const closed = Promise.withResolvers<void>()
    const server = ownServer((req, res) => {
      if (req.url === '/endless') {
        res.write('a')
        res.on('close', closed.resolve)
        return
      }
      res.setHeader('trailer', 'x-sum')
      res.write('body')
      res.addTrailers({ 'x-sum': '4' })
      res.end()
    })
    await using gateway = await TestGateway.start({ services: { shop: server } })
    const answer = await gateway.send('GET /shop HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.match(answer, /body\r\n0\r\nx-sum: 4\r\n\r\n$/)
    const client = await gateway.raw()
    client.write('GET /shop/endless HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.until(/a\r\n$/)
    client.socket.destroy()
    await closed.promise
  })

  it('that closes before its response is 502, and during its response truncates it', async () => {
    const server = ownServer((req, res) => {
      if (req.url === '/amid') res.write('half', () => res.destroy())
      else res.destroy()
    })
    await using gateway = await TestGateway.start({ services: { shop: server } })
    assert.equal((await fetch(gateway.url('/shop'))).status, 502)
    await assert.rejects(fetch(gateway.url('/shop/amid')).then((response) => response.text()))
  })

  it('sends 100 Continue only if the service accepts the body', async () => {
    const server = ownServer((req, res) => {
      void text(req).then((body) => res.json(body))
    })
    await using gateway = await TestGateway.start({ services: { shop: server } })
    const outgoing = request(gateway.url('/shop'), { method: 'POST', headers: { expect: '100-continue' } })
    outgoing.flushHeaders()
    await once(outgoing, 'continue')
    outgoing.end('body')
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    assert.equal(await text(response), '"body"')
  })
})
