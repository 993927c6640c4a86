/** Which responses of the gateway itself a page of another site may read. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNative } from '../support/app/wanted-entrance.ts'
import { type GatewaySetup, TestGateway } from '../support/http/test-gateway.ts'
import { start as startWords } from './typed/words-gateway.ts'

const page = 'https://page.example'

const services: GatewaySetup['services'] = {
  cut: (_, res) => void res.destroy(),
  resets: (req) => void req.socket.resetAndDestroy(),
  silent() {},
  shop: (_, res) => void res.end('shop'),
}

async function start(limits: GatewaySetup['limits'] = {}): Promise<TestGateway> {
  return await TestGateway.start({ services, cors: [page], limits })
}

/** The head of the response to a request of a page at `origin`. */
async function headOf(gateway: TestGateway, line: string, fields = '', origin = page): Promise<string> {
  const client = await gateway.raw()
  client.write(`${line} HTTP/1.1\r\nHost: a\r\nOrigin: ${origin}\r\n${fields}\r\n`)
  const text = await client.until(/\r\n\r\n/)
  client.socket.destroy()
  return text.slice(0, text.indexOf('\r\n\r\n') + 2)
}

const readable = /\r\naccess-control-allow-origin: https:\/\/page\.example\r\n/i
const exposed = /\r\naccess-control-expose-headers: \*\r\n/i
const varies = /\r\nvary: origin\r\n/i

interface Case {
  readonly status: number
  readonly line: string
  readonly fields?: string
  readonly limits?: GatewaySetup['limits']
}

const cases: readonly Case[] = [
  { status: 400, line: 'GET /shop/../x' },
  { status: 400, line: 'POST /shop', fields: 'Content-Length: 5\r\nHost: b\r\n' },
  { status: 404, line: 'GET /nowhere' },
  { status: 408, line: 'POST /silent', fields: 'Content-Length: 5\r\n', limits: { requestTimeout: 200 } },
  { status: 413, line: 'POST /shop', fields: 'Content-Length: 11\r\n', limits: { maxBodySize: 10 } },
  { status: 502, line: 'GET /cut' },
  { status: 503, line: 'GET /shop' },
  { status: 504, line: 'GET /silent', limits: { responseTimeout: 200 } },
]

describe('a page of a site in gateway.cors reads an error of the gateway itself', () => {
  for (const { status, line, fields, limits } of cases)
    it(`${status}: ${line}`, async () => {
      await using gateway = await start(limits)
      if (status === 503) gateway.endpoints.get('shop')!.state = 'draining'
      const head = await headOf(gateway, line, fields)
      assert.ok(head.startsWith(`HTTP/1.1 ${status} `), head)
      for (const field of [readable, exposed, varies]) assert.match(head, field)
      const other = await headOf(gateway, line, fields, 'https://other.example')
      assert.ok(other.startsWith(`HTTP/1.1 ${status} `), other)
      assert.doesNotMatch(other, /access-control/i)
      assert.match(other, varies)
    })

  it('413 of a body without a length', async () => {
    await using gateway = await start({ maxBodySize: 10 })
    const head = await headOf(gateway, 'POST /silent', 'Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890')
    assert.match(head, /^HTTP\/1\.1 413 /)
    assert.match(head, readable)
  })

  it('and no page does without gateway.cors', async () => {
    await using gateway = await TestGateway.start({ services })
    for (const line of ['GET /nowhere', 'GET /cut'])
      assert.doesNotMatch(await headOf(gateway, line), /access-control|vary/i)
  })

  it('but responses of a program are its own', async () => {
    await using gateway = await start()
    const head = await headOf(gateway, 'GET /shop')
    assert.match(head, /^HTTP\/1\.1 200 /)
    assert.doesNotMatch(head, /access-control|vary/i)
  })
})

describe('a typed service that does not serve', () => {
  const asks = 'Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n'

  it('has its preflights answered, so that the page learns of the 503', async () => {
    await using gateway = await startWords('by the gateway')
    gateway.endpoints.get('words')!.state = 'draining'
    const preflight = await headOf(gateway, 'OPTIONS /api/echo', asks)
    assert.match(preflight, /^HTTP\/1\.1 204 /)
    assert.match(preflight, readable)
    assert.match(preflight, /\r\naccess-control-allow-headers: content-type\r\n/i)
    const post = await headOf(gateway, 'POST /api/echo', 'Content-Length: 0\r\n')
    assert.match(post, /^HTTP\/1\.1 503 /)
    assert.match(post, readable)
    const other = await headOf(gateway, 'OPTIONS /api/echo', asks, 'https://other.example')
    assert.doesNotMatch(other, /access-control-allow/i)
  })

  it('a program decides about preflights itself, and is not there to do so', async () => {
    await using gateway = await startWords('by the gateway')
    gateway.endpoints.get('web')!.state = 'draining'
    assert.match(await headOf(gateway, 'OPTIONS /web', asks), /^HTTP\/1\.1 503 /)
  })

  it('a call that takes too long can be read', { skip: !isNative && 'as above' }, async () => {
    await using gateway = await startWords('by the gateway', { responseTimeout: 100 })
    const text = '{"ms":60000}'
    const client = await gateway.raw()
    const fields = `Host: a\r\nOrigin: ${page}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`
    client.write(`POST /api/later HTTP/1.1\r\n${fields}\r\n${text}`)
    const answer = await client.until(/RESPONSE_TIMEOUT/)
    assert.match(answer, /^HTTP\/1\.1 504 /)
    assert.match(answer, readable)
  })
})
