import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { after, describe, it } from 'node:test'
import Fastify from 'fastify'
import { Hono } from 'hono'
import * as z from 'zod'
import { client } from '../../src/contract/client-entry.ts'
import { BusbarError, fn, service, stream } from '../../src/contract/index.ts'
import { fastifyPlugin, fetchHandler, nodeListener } from '../../src/gateway/typed/adapters/index.ts'

/** Express has no types of its own. */
interface ExpressApp extends RequestListener {
  use(path: string, handler: RequestListener): void
  get(path: string, handler: (req: unknown, res: { send(text: string): void }) => void): void
}
const express = createRequire(import.meta.url)('express') as () => ExpressApp

const sums = service('sums', {
  add: fn({ input: z.object({ a: z.int(), b: z.int() }), output: z.int() }),
  half: fn({ input: z.object({ of: z.number() }), output: z.number(), http: 'GET /half/{of}' }),
})
let stopped = 0
const implementation = sums.implement({
  add: ({ a, b }) => a + b,
  half: ({ of }) => of / 2,
  [Symbol.asyncDispose]: async () => void stopped++,
})

async function check(url: string): Promise<void> {
  const calls = client(sums, url)
  assert.equal(await calls.add({ a: 1, b: 2 }), 3)
  assert.equal(await calls.half({ of: 5 }), 2.5)
  const { status, headers } = await fetch(`${url}/half/5`, { method: 'HEAD' })
  assert.deepEqual([status, headers.get('content-length')], [200, '3'])
  await assert.rejects(calls.add({ a: 'x' } as never), { code: 'INPUT_INVALID' })
}

async function withServer(listener: RequestListener, run: (url: string) => Promise<void>): Promise<void> {
  const server: Server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

describe('a typed service in an existing program', () => {
  it('is a listener of node:http, which stops with it', async () => {
    const before = stopped
    {
      await using listener = nodeListener(implementation)
      await withServer(listener, check)
    }
    assert.equal(stopped, before + 1)
  })

  it('calls services that are mounted with it', async () => {
    const twice = service('twice', { add: fn({ input: z.object({ a: z.int() }), output: z.int() }) })
    const doubling = twice.implement(({ client: within }) => {
      const calls = within(sums)
      return { add: ({ a }) => calls.add({ a, b: a }) }
    })
    const before = stopped
    {
      await using listener = nodeListener(doubling, { calls: [implementation] })
      await withServer(listener, async (url) => assert.equal(await client(twice, url).add({ a: 4 }), 8))
    }
    assert.equal(stopped, before + 1)
  })

  it('serves its OpenAPI document unless that is turned off', async () => {
    for (const openapi of [true, false]) {
      await using listener = nodeListener(implementation, { openapi })
      await withServer(listener, async (url) => {
        const response = await fetch(`${url}/openapi.json`)
        assert.equal(response.status, openapi ? 200 : 404)
        const { paths } = (await response.json()) as { paths?: object }
        if (openapi) assert.deepEqual(Object.keys(paths!), ['/sums/add', '/half/{of}'])
      })
    }
  })

  it('is a handler of Express, below its path', async () => {
    await using listener = nodeListener(implementation)
    const app = express()
    app.use('/api', listener)
    app.get('/own', (_req, res) => res.send('own'))
    await withServer(app, async (url) => {
      await check(`${url}/api`)
      assert.equal(await (await fetch(`${url}/own`)).text(), 'own')
    })
  })

  it('is a Fastify plugin, below its prefix', async () => {
    const before = stopped
    const app = Fastify()
    await app.register(fastifyPlugin(implementation), { prefix: '/api' })
    app.get('/own', async () => 'own')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    await check(`${url}/api`)
    assert.equal(await (await fetch(`${url}/own`)).text(), 'own')
    await app.close()
    assert.equal(stopped, before + 1)
  })
})

describe('a typed service as a fetch handler', () => {
  const pages = service('pages', {
    add: fn({ input: z.object({ a: z.int(), b: z.int() }), output: z.int() }),
    hang: fn({ output: z.int() }),
    ticks: stream({ output: z.int() }),
    breaks: stream({ output: z.int() }),
  })
  const begun = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const served = pages.implement({
    add: ({ a, b }) => a + b,
    hang: async (_, { signal }) => {
      begun.resolve()
      await once(signal, 'abort')
      aborted.resolve()
      return 1
    },
    async *ticks() {
      try {
        for (let at = 0; ; at++) yield at
      } finally {
        left.resolve()
      }
    },
    breaks: () => {
      throw new BusbarError('FORBIDDEN', { message: 'not for you' })
    },
  })
  const handler = fetchHandler(served, { prefix: '/api', maxInputSize: 100, cors: ['https://page.example'] })
  after(async () => await handler[Symbol.asyncDispose]())

  async function post(path: string, body?: RequestInit['body'], more: RequestInit = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return await handler(
      new Request(`http://any.example/api/pages/${path}`, { method: 'POST', headers, body: body ?? null, ...more }),
    )
  }

  it('answers, below its prefix', async () => {
    const response = await post('add', '{"a":1,"b":2}')
    assert.deepEqual([response.status, await response.json()], [200, 3])
  })

  const refused: Record<string, [body: RequestInit['body'], status: number, code: string]> = {
    'what is not valid': ['{"a":"x"}', 422, 'INPUT_INVALID'],
    'what is no JSON': ['{', 400, 'REQUEST_MALFORMED'],
    'what is no UTF-8': [new Uint8Array([0x22, 0xff, 0x22]), 400, 'REQUEST_MALFORMED'],
    'what is too large': ['x'.repeat(101), 413, 'BODY_TOO_LARGE'],
  }
  for (const [what, [body, status, code]] of Object.entries(refused))
    it(`refuses ${what}`, async () => {
      const response = await post('add', body)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [status, code])
    })

  it('names the nearest methods for an unknown one', async () => {
    const response = await post('ad')
    assert.equal(response.status, 404)
    assert.match(((await response.json()) as { detail: string }).detail, /POST \/pages\/add/)
  })

  it('stops reading a body that is too large', async () => {
    const cancelled = Promise.withResolvers<void>()
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(60)),
      cancel: () => cancelled.resolve(),
    })
    assert.equal((await post('add', body, { duplex: 'half' })).status, 413)
    await cancelled.promise
  })

  it('cancels a call when its client disconnects', async () => {
    const client = new AbortController()
    const answer = post('hang', undefined, { signal: client.signal })
    await begun.promise
    client.abort()
    assert.equal((await answer).status, 499)
    await aborted.promise
  })

  it('produces values on demand, and ends a cancelled stream', async () => {
    const { body, headers } = await post('ticks')
    assert.equal(headers.get('content-type'), 'application/x-ndjson')
    const reader = body!.getReader()
    const decoder = new TextDecoder()
    assert.equal(decoder.decode((await reader.read()).value), '0\n')
    assert.equal(decoder.decode((await reader.read()).value), '1\n')
    await reader.cancel()
    await left.promise
  })

  it('answers a stream that fails before its first value like any failure', async () => {
    assert.equal((await post('breaks')).status, 403)
  })

  it('allows only pages of listed origins', async () => {
    const ask = async (origin: string): Promise<string | null> => {
      const headers = { origin, 'access-control-request-method': 'POST' }
      const request = new Request('http://any.example/api/pages/add', { method: 'OPTIONS', headers })
      return (await handler(request)).headers.get('access-control-allow-origin')
    }
    assert.equal(await ask('https://page.example'), 'https://page.example')
    assert.equal(await ask('https://other.example'), null)
  })

  it('serves its OpenAPI document', async () => {
    const response = await handler(new Request('http://any.example/api/openapi.json'))
    const { paths } = (await response.json()) as { paths: object }
    assert.deepEqual(Object.keys(paths), ['/pages/add', '/pages/hang', '/pages/ticks', '/pages/breaks'])
  })

  it('answers 503 if the service does not start, and logs the reason', async () => {
    const lines: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (line: string) => void lines.push(line) }
    const broken = fetchHandler(
      pages.implement(() => Promise.reject(new Error('no database'))),
      { log },
    )
    assert.equal((await broken(new Request('http://any.example/pages/add', { method: 'POST' }))).status, 503)
    assert.match(lines[0]!, /no database/)
  })

  it('answers HEAD as GET, without a body', async () => {
    await using sumsHandler = fetchHandler(implementation)
    const response = await sumsHandler(new Request('http://any.example/half/5', { method: 'HEAD' }))
    assert.deepEqual([response.status, await response.text()], [200, ''])
    assert.equal(response.headers.get('content-type'), 'application/json')
  })

  it('can be mounted in Hono, which removes the prefix', async () => {
    await using sumsHandler = fetchHandler(implementation)
    const app = new Hono().mount('/api', sumsHandler).get('/own', (context) => context.text('own'))
    const fetch: typeof globalThis.fetch = async (input, init) => await app.fetch(new Request(input, init))
    const calls = client(sums, 'http://any.example/api', { fetch })
    assert.equal(await calls.add({ a: 1, b: 2 }), 3)
    assert.equal(await calls.half({ of: 5 }), 2.5)
    assert.equal(await (await fetch('http://any.example/own')).text(), 'own')
  })
})
