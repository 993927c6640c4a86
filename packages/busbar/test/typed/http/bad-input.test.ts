import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { client } from '../../../src/contract/client-entry.ts'
import { BusbarError } from '../../../src/contract/index.ts'
import { type Front, fronts, shop } from './support/fronts.ts'

for (const [name, open] of Object.entries(fronts))
  describe(`input over HTTP to ${name}`, () => {
    const left = Promise.withResolvers<void>()
    const hung = Promise.withResolvers<void>()
    let front: Front
    let server: Server
    let url: string

    before(async () => {
      const implementation = shop.implement({
        put: (input) => input,
        any: (input) => input,
        product: (input) => input,
        top: (_, { setHeader }) => {
          setHeader('X-Cache', 'hit')
          return 'top'
        },
        list: (input) => input,
        sold: () => {
          throw new BusbarError('RESOURCE_EXHAUSTED', { message: 'too much', data: { retryAfter: 7 } })
        },
        hang: (_, { signal }) => {
          signal.addEventListener('abort', () => hung.resolve())
          return new Promise(() => {})
        },
        async *late() {
          yield 1
          await new Promise((resolve) => setTimeout(resolve, 10))
          throw new Error('after a value')
        },
        async *ticks() {
          try {
            for (let at = 0; ; at++) yield at
          } finally {
            left.resolve()
          }
        },
      })
      front = await open(implementation)
      server = createServer(front.listener)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })

    after(async () => {
      await front.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })

    async function post(
      body: RequestInit['body'],
      path = '/shop/put',
      type = 'application/json',
    ): Promise<[number, any]> {
      const response = await fetch(url + path, {
        method: 'POST',
        body: body ?? null,
        headers: { 'content-type': type },
      })
      const text = await response.text()
      return [response.status, text === '' ? undefined : JSON.parse(text)]
    }

    const answers: Record<string, [body: string | Uint8Array, status: number, code: string, path?: unknown[]]> = {
      'malformed JSON': ['{"id":', 400, 'REQUEST_MALFORMED'],
      empty: ['', 422, 'INPUT_INVALID', []],
      'a wrong type': ['{"id":"1"}', 422, 'INPUT_INVALID', ['id']],
      'a missing field': ['{}', 422, 'INPUT_INVALID', ['id']],
      'a wrong element': ['{"id":1,"list":[1,"x"]}', 422, 'INPUT_INVALID', ['list', 1]],
      'a list instead of an object': ['[]', 422, 'INPUT_INVALID', []],
      null: ['null', 422, 'INPUT_INVALID', []],
      'a key that would change the prototype': [
        '{"id":1,"__proto__":{"admin":true}}',
        422,
        'INPUT_INVALID',
        ['__proto__'],
      ],
      'such a key in escapes': ['{"id":1,"__\\u0070roto__":{"admin":true}}', 422, 'INPUT_INVALID', ['__proto__']],
      'a constructor with a prototype': [
        '{"constructor":{"prototype":{"a":1}}}',
        422,
        'INPUT_INVALID',
        ['constructor'],
      ],
      'a tag without its value': ['{"id":{"$date":"soon"}}', 422, 'INPUT_INVALID', ['id']],
      'deep nesting': [`{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 422, 'INPUT_INVALID', []],
      'one level too many': [`{"id":1,"more":${'['.repeat(100)}${']'.repeat(100)}}`, 422, 'INPUT_INVALID'],
      'invalid UTF-8': [new Uint8Array([0x22, 0xff, 0xfe, 0x22]), 400, 'REQUEST_MALFORMED'],
      'a body that is too large': [`{"id":1,"x":"${'x'.repeat(1_000_000)}"}`, 413, 'BODY_TOO_LARGE'],
    }
    for (const [what, [body, status, code, path]] of Object.entries(answers))
      it(`is refused when it is ${what}`, async () => {
        const [answered, problem] = await post(body)
        assert.equal(answered, status)
        assert.equal(problem.code, code)
        assert.equal(problem.status, status)
        if (path !== undefined) assert.deepEqual(problem.data.issues[0].path, path)
        assert.equal(({} as { admin?: unknown }).admin, undefined)
      })

    it('is refused with an invalid time limit, and expires with a negative one', async () => {
      const limited = async (limit: string): Promise<[number, string]> => {
        const response = await fetch(`${url}/shop/hang`, { method: 'POST', headers: { 'busbar-timeout': limit } })
        return [response.status, ((await response.json()) as { code: string }).code]
      }
      for (const limit of ['soon', '', 'NaN', 'Infinity', '1e', '0x10', '5, 10'])
        assert.deepEqual(await limited(limit), [400, 'REQUEST_MALFORMED'], limit)
      for (const limit of ['-1', '0', '-0.5', '1.5', '1e-7'])
        assert.deepEqual(await limited(limit), [504, 'DEADLINE_EXCEEDED'], limit)
    })

    it('uses the last of two equal keys', async () => {
      assert.deepEqual(await post('{"id":1,"id":2}'), [200, { id: 2 }])
    })

    it('is refused without a JSON content type, so that forms of other pages are not accepted', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
        assert.equal((await post('{"id":1}', '/shop/put', type))[1].code, 'MEDIA_TYPE_UNSUPPORTED')
    })

    it('gets suggestions for an unknown method', async () => {
      for (const path of [
        '/shop/pot',
        '/shop/constructor',
        '/shop/__proto__',
        '/shop/then',
        '/shop/',
        '/other/put',
        '/',
      ]) {
        const [status, problem] = await post('{}', path)
        assert.equal(status, 404, path)
        assert.equal(problem.code, 'METHOD_UNKNOWN')
        assert.ok(problem.data.nearest.length > 0)
      }
      assert.equal((await post('{}', '/shop/pot'))[1].data.nearest[0], 'POST /shop/put')
      assert.equal((await post('{}', '/pot'))[1].data.nearest[0], 'POST /put')
    })

    it('gets the allowed HTTP methods of a path', async () => {
      const cases: [verb: string, path: string, allow: string][] = [
        ['GET', '/shop/put', 'POST'],
        ['DELETE', '/put?x=1', 'POST'],
        ['OPTIONS', '/shop/put', 'POST'],
        ['HEAD', '/shop/ticks', 'POST'],
        ['POST', '/products/7', 'GET, HEAD'],
        ['PATCH', '/products/top', 'GET, HEAD'],
        ['PROPFIND', '/products', 'GET, HEAD'],
      ]
      for (const [method, path, allow] of cases) {
        const response = await fetch(url + path, { method })
        assert.deepEqual([response.status, response.headers.get('allow')], [405, allow], `${method} ${path}`)
        const text = await response.text()
        if (method !== 'HEAD') assert.equal((JSON.parse(text) as { code: string }).code, 'METHOD_NOT_ALLOWED')
      }
    })

    it('streams in the format with the highest weight in Accept', async () => {
      const cases: Record<string, 'lines' | 'events'> = {
        'text/event-stream': 'events',
        'TEXT/Event-Stream;q=0.5': 'events',
        'text/event-stream, */*': 'events',
        'application/json, text/event-stream': 'events',
        'text/event-stream;q=0': 'lines',
        'text/event-stream; q=0.1, application/x-ndjson': 'lines',
        'text/event-stream;q=0.2,application/x-ndjson;q=0.1': 'events',
        'text/event-streams': 'lines',
        'application/x-ndjson;x="text/event-stream,text/event-stream"': 'lines',
        '*/*': 'lines',
        '': 'lines',
        'text/event-stream;q=nonsense': 'lines',
      }
      for (const [accept, form] of Object.entries(cases)) {
        const response = await fetch(`${url}/shop/late`, { method: 'POST', headers: { accept } })
        await response.text()
        const type = form === 'lines' ? 'application/x-ndjson' : 'text/event-stream'
        assert.equal(response.headers.get('content-type'), type, accept)
      }
    })

    it('needs no query if no field is required', async () => {
      assert.deepEqual(await (await fetch(`${url}/products`)).json(), { from: 1 })
      assert.deepEqual(await (await fetch(`${url}/products?from=2`)).json(), { from: 2 })
      assert.deepEqual(await client(shop, url).list({}), { from: 1 })
    })

    it('finds a method with and without the name of its service, fixed paths before parameters', async () => {
      assert.deepEqual(await post('{"id":3}', '/put'), [200, { id: 3 }])
      assert.equal(await (await fetch(`${url}/products/top`)).json(), 'top')
      assert.deepEqual(await (await fetch(`${url}/products/7`)).json(), { id: 7 })
      assert.equal((await fetch(`${url}/products/x`)).status, 422)
      assert.equal((await fetch(`${url}/products/%E0%A4%A`)).status, 404)
    })

    it('of a hundred megabytes is refused early, with constant memory', async () => {
      const before = process.memoryUsage().rss
      for (const chunked of [false, true]) {
        const headers = { 'content-type': 'application/json', ...(!chunked && { 'content-length': 100_000_000 }) }
        const sending = request(`${url}/shop/put`, { method: 'POST', headers })
        sending.on('error', () => {})
        sending.write('"')
        const feed = setInterval(() => sending.write('x'.repeat(100_000)), 1)
        const [response] = await once(sending, 'response')
        clearInterval(feed)
        assert.equal(response.statusCode, 413)
        sending.destroy()
      }
      assert.ok(process.memoryUsage().rss - before < 80_000_000)
    })

    it('has Retry-After, and headers that a method sets', async () => {
      const busy = await fetch(`${url}/shop/sold`, { method: 'POST' })
      assert.deepEqual([busy.status, busy.headers.get('retry-after')], [503, '7'])
      assert.equal((await fetch(`${url}/products/top`)).headers.get('x-cache'), 'hit')
    })

    it('cancels a call when its client disconnects', async () => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
      socket.write('POST /shop/hang HTTP/1.1\r\nhost: x\r\n\r\n')
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.destroy()
      await hung.promise
    })

    it('ends a stream when its client disconnects abruptly', async () => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
      socket.write('POST /shop/ticks HTTP/1.1\r\nhost: x\r\n\r\n')
      await once(socket, 'data')
      socket.destroy()
      await left.promise
    })

    it('streams as server-sent events, with the error last', async () => {
      const response = await fetch(`${url}/shop/late`, { method: 'POST', headers: { accept: 'text/event-stream' } })
      assert.equal(response.headers.get('content-type'), 'text/event-stream')
      assert.match(await response.text(), /^data: 1\n\nevent: error\ndata: \{.*"code":"INTERNAL".*\}\n\n$/)
    })

    it('allows only pages of listed origins', async () => {
      const preflight = async (origin: string): Promise<Response> =>
        await fetch(`${url}/shop/put`, {
          method: 'OPTIONS',
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type',
          },
        })
      const allowed = await preflight('https://page.example')
      assert.equal(allowed.status, 204)
      assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://page.example')
      assert.equal(allowed.headers.get('access-control-allow-headers'), 'content-type')
      assert.equal((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null)
    })
  })
