import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { isNative } from '../../support/app/wanted-entrance.ts'
import { way } from '../../support/mesh/byte-mesh.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'

const programs: Record<string, RequestListener> = {
  // With a length, a connection of HTTP/1.0 may go on.
  '/slow': (_, res) => void setTimeout(() => res.setHeader('content-length', 4).end('slow'), 50),
  '/large': (_, res) => void res.end(Buffer.alloc(8_000_000, 'x')),
  '/length': (req, res) => {
    let length = 0
    req.on('data', (chunk: Buffer) => (length += chunk.length))
    req.on('end', () => res.end(`${length} bytes`)).on('error', () => {})
  },
  '/hints': (_, res) => {
    res.writeEarlyHints({ link: '</a.css>; rel=preload' })
    res.end('with hints')
  },
  '/destroy': (req) => void req.socket.destroy(),
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const post = (fields: string, body: string): string => `POST /length HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`
const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'

/** Requests after one without a response. */
describe('a pipelined request behind a slow response', () => {
  let gateway: TestGateway
  before(async () => {
    const web: RequestListener = (req, res) => programs[req.url!]!(req, res)
    gateway = await TestGateway.start({ services: { web }, entry: 'web' })
  })
  after(() => gateway[Symbol.asyncDispose]())

  it('gets 100 Continue before its own response', async () => {
    const client = await gateway.raw()
    client.write(get('/slow') + post('Expect: 100-continue\r\nContent-Length: 3', 'abc'))
    const answer = await client.until(/3 bytes/)
    client.socket.destroy()
    assert.deepEqual(outline(answer), ['200', 'slow', '100', '200', '3 bytes'])
  })

  it('gets its early hints before its own response', async () => {
    const client = await gateway.raw()
    client.write(get('/slow') + get('/hints'))
    const answer = await client.until(/with hints/)
    client.socket.destroy()
    assert.deepEqual(outline(answer), ['200', 'slow', '103', '200', 'with hints'])
  })

  it('that is a CONNECT does not affect that response', async () => {
    const answer = await gateway.send(get('/slow') + tunnel)
    assert.deepEqual(outline(answer).slice(0, 3), isNative ? ['200', 'slow', '400'] : ['200', 'slow'])
    assert.match(answer, /\r\nconnection: close\r\n/i)
  })

  it('that is a CONNECT does not truncate a large response that is read late', async () => {
    const client = await gateway.raw()
    client.socket.pause()
    client.write(get('/large') + tunnel)
    await wait(100)
    client.socket.resume()
    assert.equal(/\r\n\r\n(x*)/.exec(await client.closed())![1]!.length, 8_000_000)
  })

  it('is 400 in order if its chunks are malformed', async () => {
    const answer = await gateway.send(get('/slow') + post('Transfer-Encoding: chunked', '3\r\nabc\r\nzz\r\n'))
    assert.deepEqual(outline(answer).slice(0, 3), ['200', 'slow', '400'])
  })

  it('that is destroyed by its program does not replace that response', async () => {
    const answer = await gateway.send(get('/slow') + get('/destroy'))
    if (isNative) assert.deepEqual(outline(answer).slice(0, 3), ['200', 'slow', '502'])
    else assert.doesNotMatch(answer, / 502 /)
  })
})

/** Node's parser drops what has come with a request for an upgrade, also if that is declined. */
describe('a pipelined request behind one for an upgrade that is an ordinary request', () => {
  const upgrade = 'Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade:'
  const requests = {
    'of HTTP/2': `GET /slow HTTP/1.1\r\n${upgrade} h2c\r\n\r\n`,
    'with a body': `POST /slow HTTP/1.1\r\n${upgrade} x\r\nContent-Length: 3\r\n\r\nabc`,
    'with chunks': `POST /slow HTTP/1.1\r\n${upgrade} x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    'in HTTP/1.0': `GET /slow HTTP/1.0\r\n${upgrade} x\r\n\r\n`,
    'of a service without upgrades': `GET /slow HTTP/1.1\r\n${upgrade} websocket\r\n\r\n`,
  }
  let gateway: TestGateway
  before(async () => {
    const web: RequestListener = (req, res) => programs[req.url!]!(req, res)
    gateway = await TestGateway.start({ services: { web }, entry: 'web' })
  })
  after(() => gateway[Symbol.asyncDispose]())

  for (const [name, request] of Object.entries(requests))
    it(`${name} gets its response, or the end of the connection`, async () => {
      const client = await gateway.raw()
      client.write(request + get('/hints'))
      // Elsewhere, it is forwarded as an upgrade.
      const lasts = isNative && !(way.overLink && name === 'of a service without upgrades')
      const answer = lasts ? await client.until(/with hints/) : await client.closed()
      client.socket.destroy()
      assert.deepEqual(outline(answer), lasts ? ['200', 'slow', '103', '200', 'with hints'] : ['200', 'slow'])
      assert.equal(/\r\nconnection: close\r\n/i.test(answer), !lasts)
    })
})

/** The statuses and bodies of responses, in order. */
function outline(answers: string): string[] {
  const parts = answers.split(/(?=HTTP\/1\.1 \d{3} )/).flatMap((answer) => {
    const [head, ...body] = answer.split('\r\n\r\n')
    return [head!.slice(9, 12), body.join('')]
  })
  return parts.filter((part) => part !== '')
}
