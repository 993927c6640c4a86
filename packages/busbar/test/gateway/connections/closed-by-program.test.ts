/** A program closes the connection of a request that it has not answered. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { describe, it } from 'node:test'
import { TestGateway } from '../../support/http/test-gateway.ts'

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

const ways: Readonly<Record<string, RequestListener>> = {
  'ends its socket': (req) => void req.socket.end(),
  'ends its socket later': (req) => void setTimeout(() => req.socket.end(), 20),
  'ends its socket with a callback': (req) => void req.socket.end(() => {}),
  'ends its socket when that has nothing to write': (req) => req.socket.destroySoon(),
  'destroys its socket': (req) => void req.socket.destroy(),
}

describe('a program that has not answered and', () => {
  for (const [way, listener] of Object.entries(ways))
    it(`${way} leaves the answer to the gateway`, async () => {
      await using gateway = await TestGateway.start({ services: { shop: listener } })
      const client = await gateway.raw()
      client.write(request('/shop'))
      assert.match(await client.closed(), /^HTTP\/1\.1 502 [^]*"code":"SERVICE_HANGUP"[^[]*$/)
    })

  it('has its answer alone when it writes that itself', async () => {
    const own = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nown'
    await using gateway = await TestGateway.start({ services: { shop: (req) => void req.socket.end(own) } })
    const client = await gateway.raw()
    client.write(request('/shop'))
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*\r\n\r\nown$/)
  })

  it('has sent 103 is not asked again', async () => {
    let asked = 0
    await using gateway = await TestGateway.start({
      services: {
        shop(req, res) {
          if (req.url === '/') return void res.end('shop')
          asked++
          res.writeEarlyHints({ link: '</style.css>; rel=preload' })
          setTimeout(() => res.destroy(), 20)
        },
      },
    })
    const client = await gateway.raw()
    client.write(request('/shop'))
    await client.until(/shop$/)
    client.write(request('/shop/hints'))
    const heads = (await client.closed()).match(/HTTP\/1\.1 \d+/g)
    assert.deepEqual(heads, ['HTTP/1.1 200', 'HTTP/1.1 103', 'HTTP/1.1 502'])
    assert.equal(asked, 1)
  })

  it('closes all connections of its server closes those of its requests, and no others', async () => {
    const begun = Promise.withResolvers<void>()
    const shop = createServer((req, res) => {
      if (req.url === '/waits') begun.resolve()
      else res.end('shop')
    })
    await using gateway = await TestGateway.start({ services: { shop, other: (_, res) => void res.end('other') } })
    const idle = await gateway.raw()
    idle.write(request('/shop'))
    await idle.until(/shop$/)
    const waiting = await gateway.raw()
    // Over HTTP text, a GET without an answer would be sent again.
    waiting.write('POST /shop/waits HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await begun.promise
    shop.closeAllConnections()
    assert.match(await waiting.closed(), /^HTTP\/1\.1 502 /)
    idle.write(request('/other'))
    await idle.until(/other$/)
    idle.socket.destroy()
  })
})
