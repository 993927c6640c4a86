import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RequestListener } from 'node:http'
import { TestGateway } from '../support/http/test-gateway.ts'

/** Responds with the service's name and what it has got. */
const echo =
  (service: string): RequestListener =>
  (req, res) => {
    const { originalUrl } = req as { originalUrl?: string }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ service, url: req.url, originalUrl, headers: req.headers, raw: req.rawHeaders }))
  }

describe('routes', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await TestGateway.start({
      services: { web: echo('web'), shop: echo('shop'), cart: echo('cart'), admin: echo('admin') },
      entry: 'web',
      routes: {
        '/shop': 'shop',
        '/shop/cart': 'cart',
        'admin.example': 'admin',
        'admin.example/shop': 'cart',
        '::1': 'admin',
        '[::2]': 'admin',
      },
    })
  })
  after(() => gateway[Symbol.asyncDispose]())

  const cases: [target: string, service: string, url: string][] = [
    ['/shop', 'shop', '/'],
    ['/shop/', 'shop', '/'],
    ['/shop/x/y?z=1', 'shop', '/x/y?z=1'],
    ['/shop?x=/cart', 'shop', '/?x=/cart'],
    ['/shopping', 'web', '/shopping'],
    ['/Shop/x', 'web', '/Shop/x'],
    ['/shop/cart', 'cart', '/'],
    ['/shop/cart/1', 'cart', '/1'],
    ['/shop/carts', 'shop', '/carts'],
    ['/', 'web', '/'],
    ['/.well-known/x', 'web', '/.well-known/x'],
    ['/a..b/...', 'web', '/a..b/...'],
    ['/?next=/../x', 'web', '/?next=/../x'],
    // Nothing is decoded: a path with an encoded letter or slash is another path.
    ['/%73hop/x', 'web', '/%73hop/x'],
    ['/shop%2Fcart', 'web', '/shop%2Fcart'],
    ['/shop/a%2Fb', 'shop', '/a%2Fb'],
    ['//shop/x', 'web', '//shop/x'],
    ['/shop//evil.example/x', 'shop', '/evil.example/x'],
    ['http://any.example/shop/x', 'shop', '/x'],
    ['http://any.example', 'web', '/'],
    ['http://any.example?q', 'web', '/?q'],
  ]
  for (const [target, service, url] of cases)
    it(`lead ${target} to ${service} as ${url}`, async () => {
      const seen = await ask(gateway, `GET ${target} HTTP/1.1\r\nHost: any.example`)
      assert.deepEqual([seen.service, seen.url], [service, url])
    })

  for (const [host, service] of [
    ['admin.example', 'admin'],
    ['ADMIN.example:3043', 'admin'],
    ['admin.example.', 'admin'],
    ['other.admin.example', 'web'],
    ['[::1]:3043', 'admin'],
    ['[::2]', 'admin'],
    ['[::3]', 'web'],
    ['::1:3043', 'admin'],
    ['::ffff:1.2.3.4:3043', 'web'],
    ['2001:db8::1:3043', 'web'],
  ] as const)
    it(`lead the host ${host} to ${service}`, async () => {
      const seen = await ask(gateway, `GET /x HTTP/1.1\r\nHost: ${host}`)
      assert.deepEqual([seen.service, seen.url], [service, '/x'])
    })

  it("prefer a host's own routes, and the longest prefix", async () => {
    const seen = await ask(gateway, 'GET /shop/1 HTTP/1.1\r\nHost: admin.example')
    assert.deepEqual([seen.service, seen.url], ['cart', '/1'])
  })

  it('use the host of an absolute target, whatever the Host header is', async () => {
    const seen = await ask(gateway, 'GET http://admin.example/x HTTP/1.1\r\nHost: any.example')
    assert.equal(seen.service, 'admin')
    assert.equal(seen.headers['host'], 'admin.example')
  })

  it('pass OPTIONS * to the entry', async () => {
    const seen = await ask(gateway, 'OPTIONS * HTTP/1.1\r\nHost: any.example')
    assert.deepEqual([seen.service, seen.url], ['web', '*'])
  })

  for (const target of [
    '/shop/../x',
    '/shop/..',
    '/./shop',
    '/shop/%2e%2E/x',
    '/shop/.%2e',
    '/shop/..%2fx',
    '/shop/..\\x',
    '/shop\\x',
    '/shop#x',
    '*',
    'http://user:secret@any.example/',
    'ftp://any.example/',
    'shop',
  ])
    it(`reject the target ${target}`, async () => {
      const answer = await gateway.send(`GET ${target} HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 400 /)
    })

  for (const host of ['[127.0.0.1]', '[::1', '::1:a.example'])
    it(`reject the host ${host}`, async () => {
      const answer = await gateway.send(`GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 400 /)
    })

  it('set no originalUrl, which would show frameworks the prefix', async () => {
    const cut = await ask(gateway, 'GET /shop/x HTTP/1.1\r\nHost: a')
    assert.deepEqual([cut.url, cut.originalUrl], ['/x', undefined])
  })

  it('set x-forwarded headers, and remove the client’s own', async () => {
    const claims = [
      'Forwarded: for=6.6.6.6',
      'X-Forwarded-For: 6.6.6.6',
      'x-forwarded-proto: https',
      'X-Real-IP: 6.6.6.6',
    ]
    const more = ['X-Forwarded-User: root', 'x-forwarded-prefix: /evil']
    const seen = await ask(
      gateway,
      ['GET /shop/x HTTP/1.1', 'Host: a:1', ...claims, ...more, 'X-Mine: yes'].join('\r\n'),
    )
    const expected = {
      host: 'a:1',
      'x-mine': 'yes',
      connection: 'close',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'a:1',
      'x-forwarded-prefix': '/shop',
    }
    assert.deepEqual(seen.headers, expected)
    assert.deepEqual(lower(seen.raw), expected)
  })
})

describe('without an entry', () => {
  it('a 404 names the nearest routes', async () => {
    await using gateway = await TestGateway.start({
      services: { catalog: echo('catalog'), cart: echo('cart'), billing: echo('billing'), users: echo('users') },
    })
    const response = await fetch(gateway.url('/catalgo/7?secret=1'))
    assert.equal(response.status, 404)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    const problem = (await response.json()) as Record<string, unknown>
    assert.equal((problem['routes'] as string[])[0], '/catalog')
    assert.match(problem['detail'] as string, /\/catalog/)
    assert.deepEqual(
      { code: problem['code'], status: problem['status'], title: problem['title'], instance: problem['instance'] },
      { code: 'ROUTE_NOT_FOUND', status: 404, title: 'Not Found', instance: '/catalgo/7' },
    )
  })
})

interface Seen {
  service: string
  url: string
  originalUrl?: string
  headers: Record<string, string>
  raw: string[]
}

async function ask(gateway: TestGateway, head: string): Promise<Seen> {
  const answer = await gateway.send(`${head}\r\nConnection: close\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 200 /)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return JSON.parse(body) as Seen
}

function lower(raw: readonly string[]): Record<string, string> {
  return Object.fromEntries(raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]!]] : [])))
}
