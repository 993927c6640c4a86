import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Readable } from 'node:stream'
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { FastifyInstance as Fastify4 } from 'fastify4'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { error, fn, service, stream, type, type Log } from '../../src/contract/index.ts'
import { fastifyPlugin } from '../../src/gateway/typed/adapters/index.ts'

/** Both versions take it by their own types. */
void ((app: Fastify4, plugin: ReturnType<typeof fastifyPlugin>) => app.register(plugin, { prefix: '/api' }))

/** As much of both is alike as is used here. */
const fastify4 = createRequire(import.meta.url)('fastify4') as typeof fastify5

const notes = service('notes', {
  add: fn({
    input: z.object({ text: z.string(), at: z.date().optional() }),
    output: z.object({ text: z.string(), at: z.date().optional() }),
    errors: { TAKEN: error(409, z.object({ text: z.string() })) },
    status: 201,
  }),
  note: fn({
    input: z.object({ id: z.string(), q: z.int().optional() }),
    output: type<unknown>(),
    http: 'GET /notes/{id}',
  }),
  top: fn({ output: z.string(), http: 'GET /notes/top' }),
  drop: fn({ input: z.object({ id: z.string() }), http: 'DELETE /notes/{id}' }),
  sum: fn({ input: z.array(z.number()), output: z.number(), http: 'POST /sum' }),
  echo: fn({ input: type<unknown>(), output: type<unknown>() }),
  hang: fn({ input: type<string>(), output: type<unknown>() }),
  breaks: fn({ output: type<unknown>() }),
  wrong: fn({ output: z.object({ n: z.number() }) }),
  tagged: fn({ output: type<string>() }),
  words: stream({ input: z.object({ text: z.string() }), output: z.string(), http: 'GET /words/{text}' }),
  late: stream({ output: z.int() }),
  refused: stream({ output: z.int(), errors: { DRY: error(410) } }),
  endless: stream({ output: z.int() }),
})

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Called by whichever method runs; what ends it says so. */
class Calls {
  made: string[] = []
  readonly left = Promise.withResolvers<string>()
  readonly began = Promise.withResolvers<void>()

  readonly implementation = notes.implement({
    add: ({ text, at }, { fail }) => {
      this.made.push('add')
      return text === 'taken' ? fail('TAKEN', { text }) : { text, at }
    },
    note: (input) => input,
    top: () => 'top',
    drop: () => void this.made.push('drop'),
    sum: (numbers) => numbers.reduce((sum, number) => sum + number, 0),
    echo: (input) => input,
    hang: (_, { signal }) => {
      signal.addEventListener('abort', () => this.left.resolve((signal.reason as { code: string }).code))
      this.began.resolve()
      return new Promise(() => {})
    },
    breaks: () => {
      throw new Error('secret')
    },
    wrong: () => ({ n: 'secret' }) as never,
    tagged: (_, { setHeader }) => {
      setHeader('x-cache', 'hit')
      return 'tagged'
    },
    async *words({ text }) {
      yield* text.split(' ')
    },
    async *late() {
      yield 1
      throw new Error('secret')
    },
    async *refused(_, { fail }) {
      fail('DRY')
      yield 1
    },
    endless: async function* (this: unknown) {
      yield* forever(calls)
    },
  })
}
let calls: Calls

async function* forever({ left, began }: Calls): AsyncGenerator<number> {
  try {
    for (let at = 0; ; at++) {
      yield at
      began.resolve()
    }
  } finally {
    left.resolve('left')
  }
}

for (const [version, fastify] of Object.entries({ 'Fastify 5': fastify5, 'Fastify 4': fastify4 })) {
  let app: FastifyInstance

  /** An app with the service below `/api`, listening. */
  async function start(
    prepare: (app: FastifyInstance) => void | Promise<void> = () => {},
    options: FastifyServerOptions & { prefix?: string; maxInputSize?: number; cors?: string[] } = {},
  ): Promise<string> {
    const { prefix = '/api', maxInputSize, cors, ...rest } = options
    calls = new Calls()
    app = fastify({ forceCloseConnections: true, ...rest }) as FastifyInstance
    await prepare(app)
    const parts = { log, ...(maxInputSize !== undefined && { maxInputSize }), ...(cors !== undefined && { cors }) }
    await app.register(fastifyPlugin(calls.implementation, parts), { prefix })
    app.get('/own', async () => 'own')
    return await app.listen({ port: 0, host: '127.0.0.1' })
  }

  const withApp =
    (run: (url: string) => Promise<void>, ...setup: Parameters<typeof start>): (() => Promise<void>) =>
    async () => {
      const url = await start(...setup)
      try {
        await run(`${url}${setup[1]?.prefix ?? '/api'}`)
      } finally {
        await app.close()
      }
    }

  const post = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    })

  describe(`a typed service in ${version}`, () => {
    it(
      'answers calls, with every kind of value',
      withApp(async (url) => {
        const api = client(notes, url)
        assert.deepEqual(await api.add({ text: 'a', at: new Date(7) }), { text: 'a', at: new Date(7) })
        assert.deepEqual(await api.note({ id: 'a/b ü', q: 3 }), { id: 'a/b ü', q: 3 })
        assert.equal(await api.top(), 'top')
        assert.equal(await api.drop({ id: '1' }), undefined)
        assert.equal(await api.sum([1, 2]), 3)
        const values = [
          null,
          undefined,
          'text',
          '',
          0,
          false,
          [],
          {},
          [1, [2]],
          12n,
          NaN,
          new Date(0),
          new Map([['a', 1]]),
        ]
        const more = [new Set([1]), Uint8Array.of(1, 255), { $x: 1 }, { date: new Date(1) }, 'ü€😀']
        for (const value of [...values, ...more]) assert.deepEqual(await api.echo(value), value)
      }),
    )

    it(
      'answers as any typed service does',
      withApp(async (url) => {
        const made = await post(`${url}/notes/add`, { text: 'a' })
        assert.deepEqual([made.status, made.headers.get('content-type')], [201, 'application/json'])
        assert.equal(made.headers.get('content-length'), '12')
        assert.equal(await made.text(), '{"text":"a"}')
        const short = await post(`${url}/add`, { text: 'a' })
        assert.equal(short.status, 201)
        const dropped = await fetch(`${url}/notes/1`, { method: 'DELETE' })
        assert.deepEqual([dropped.status, dropped.headers.get('content-length')], [204, null])
        const head = await fetch(`${url}/notes/top`, { method: 'HEAD' })
        assert.deepEqual([head.status, head.headers.get('content-length')], [200, '5'])
        const tagged = await post(`${url}/notes/tagged`, '')
        assert.equal(tagged.headers.get('x-cache'), 'hit')
        const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
        assert.ok('/notes/{id}' in document.paths)
      }),
    )

    it(
      'answers failures as problems, which clients read',
      withApp(async (url) => {
        const api = client(notes, url)
        const [taken] = await safe(api.add({ text: 'taken' }))
        assert.equal(taken?.code, 'TAKEN')
        if (taken?.code === 'TAKEN') assert.deepEqual([taken.status, taken.data], [409, { text: 'taken' }])
        const [invalid] = await safe(api.add({ text: 7 } as never))
        assert.equal(invalid?.code, 'INPUT_INVALID')
        for (const method of ['breaks', 'wrong'] as const) {
          const response = await post(`${url}/notes/${method}`, '')
          assert.equal(response.status, 500)
          assert.equal(response.headers.get('content-type'), 'application/problem+json')
          assert.doesNotMatch(await response.text(), /secret/)
        }
        const malformed = await post(`${url}/notes/add`, '{')
        assert.deepEqual(
          [malformed.status, ((await malformed.json()) as { code: string }).code],
          [400, 'REQUEST_MALFORMED'],
        )
        const polluted = await post(`${url}/notes/echo`, '{"a":1,"__proto__":{"b":1}}')
        assert.equal(polluted.status, 422)
        const marked = await post(`${url}/notes/add`, '\ufeff{"text":"a"}')
        assert.equal(marked.status, 201)
        const encoded = await post(`${url}/notes/add`, gzipSync('{"text":"a"}'), { 'content-encoding': 'gzip' })
        assert.equal(encoded.status, 415)
        const form = await fetch(`${url}/notes/add`, { method: 'POST', body: new URLSearchParams({ text: 'a' }) })
        assert.equal(form.status, 415)
        assert.deepEqual(calls.made, ['add', 'add'].slice(0, calls.made.length))
      }),
    )

    it(
      'streams, and a failure before the first value is an answer of its own',
      withApp(async (url) => {
        const api = client(notes, url)
        const words: string[] = []
        for await (const word of api.words({ text: 'a b' })) words.push(word)
        assert.deepEqual(words, ['a', 'b'])
        const late = api.late()
        assert.equal((await late.next()).value, 1)
        await assert.rejects(late.next(), { code: 'INTERNAL' })
        await assert.rejects(api.refused().next(), { code: 'DRY', status: 410 })
        const events = await fetch(`${url}/words/a`, { headers: { accept: 'text/event-stream' } })
        assert.equal(events.headers.get('content-type'), 'text/event-stream')
        assert.equal(await events.text(), 'data: "a"\n\nevent: end\ndata:\n\n')
        assert.equal((await fetch(`${url}/words/a`, { method: 'HEAD' })).status, 404)
      }),
    )

    it(
      'ends a call and a stream whose client goes away',
      withApp(async (url) => {
        const { port } = new URL(url)
        const socket = connect(Number(port), '127.0.0.1')
        socket.write(
          'POST /api/notes/hang HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n"a"',
        )
        await calls.began.promise
        socket.destroy()
        assert.equal(await calls.left.promise, 'CALL_ABORTED')
      }),
    )

    it(
      'makes values as fast as they are read, and leaves a stream whose client goes away',
      withApp(async (url) => {
        const { port } = new URL(url)
        const socket = connect(Number(port), '127.0.0.1')
        socket.write('POST /api/notes/endless HTTP/1.1\r\nhost: x\r\n\r\n')
        await once(socket, 'data')
        socket.destroy()
        assert.equal(await calls.left.promise, 'left')
      }),
    )
  })

  describe(`the hooks of an app around a typed service in ${version}`, () => {
    const seen: string[] = []
    const hooks = ['onRequest', 'preValidation', 'preHandler', 'onResponse'] as const
    const note = (app: FastifyInstance): void => {
      seen.length = 0
      for (const name of hooks) app.addHook(name, async (request) => void seen.push(`${name} ${request.url}`))
      app.addHook('preParsing', async (request, _reply, payload) => (seen.push(`preParsing ${request.url}`), payload))
      app.addHook('preSerialization', async (_request, _reply, payload) => (seen.push('preSerialization'), payload))
      app.addHook('onSend', async (_request, _reply, payload) => (seen.push(`onSend ${typeof payload}`), payload))
      app.addHook('onError', async (_request, _reply, failure) => void seen.push(`onError ${failure.code}`))
    }
    const order = (path: string, ...between: string[]): string[] => [
      `onRequest ${path}`,
      `preParsing ${path}`,
      `preValidation ${path}`,
      `preHandler ${path}`,
      ...between,
      `onResponse ${path}`,
    ]
    const settled = async (): Promise<void> => {
      while (!seen.some((line) => line.startsWith('onResponse'))) await new Promise((resolve) => setImmediate(resolve))
    }

    it(
      'run in their order',
      withApp(async (url) => {
        assert.equal((await post(`${url}/notes/add`, { text: 'a' })).status, 201)
        await settled()
        assert.deepEqual(seen, order('/api/notes/add', 'preSerialization', 'onSend string'))
      }, note),
    )

    it(
      'run in their order around a failure, with onError',
      withApp(async (url) => {
        assert.equal((await post(`${url}/notes/add`, { text: 'taken' })).status, 409)
        await settled()
        assert.deepEqual(seen, order('/api/notes/add', 'onError TAKEN', 'preSerialization', 'onSend string'))
      }, note),
    )

    it(
      'run in their order around a stream',
      withApp(async (url) => {
        assert.equal((await fetch(`${url}/words/a`)).status, 200)
        await settled()
        assert.deepEqual(seen, order('/api/words/a', 'onSend object'))
      }, note),
    )

    for (const hook of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)
      it(
        `stop a call where ${hook} does, by a reply or by throwing`,
        withApp(
          async (url) => {
            assert.equal((await post(`${url}/notes/add`, { text: 'a' })).status, 401)
            const thrown = await post(`${url}/notes/add`, { text: 'a' }, { 'x-how': 'throw' })
            assert.equal(thrown.status, 403)
            assert.match(thrown.headers.get('content-type')!, /^application\/json/)
            assert.equal((await fetch(`${url}/words/a`)).status, 401)
            assert.deepEqual(calls.made, [])
            const signed = { authorization: 'ada' }
            assert.equal((await post(`${url}/notes/add`, { text: 'a' }, signed)).status, 201)
            assert.deepEqual(calls.made, ['add'])
          },
          (app) => {
            app.addHook(hook as 'preHandler', async (request, reply) => {
              if (request.headers.authorization === 'ada') return undefined
              if (request.headers['x-how'] === 'throw') throw Object.assign(new Error('no'), { statusCode: 403 })
              return reply.code(401).send({ who: 'are you' })
            })
          },
        ),
      )

    it(
      'see the input as the service will, and may change it',
      withApp(
        async (url) => {
          const answer = await client(notes, url).echo({ at: new Date(3), n: 1 })
          assert.deepEqual(answer, { at: new Date(3), n: 1, tenant: 'ada' })
        },
        (app) => {
          app.addHook('preValidation', async (request) => {
            const body = request.body as { at?: unknown; tenant?: string }
            assert.ok(body.at instanceof Date)
            body.tenant = 'ada'
          })
        },
      ),
    )

    it(
      'may read the body for the service',
      withApp(
        async (url) => {
          const body = gzipSync('{"text":"zipped"}')
          const answer = await post(`${url}/notes/add`, body, { 'content-encoding': 'gzip' })
          assert.deepEqual(await answer.json(), { text: 'zipped' })
        },
        (app) => {
          app.addHook('preParsing', async (_request, _reply, payload) => {
            const chunks: Buffer[] = []
            for await (const chunk of payload) chunks.push(chunk as Buffer)
            return Object.assign(Readable.from([gunzipSync(Buffer.concat(chunks))]), {
              receivedEncodedLength: Buffer.concat(chunks).length,
            })
          })
        },
      ),
    )

    it(
      'may change a result before it is written, and the text after it',
      withApp(
        async (url) => {
          assert.deepEqual(await (await post(`${url}/notes/add`, { text: 'a' })).json(), { text: 'a', by: 'hook' })
          assert.equal(await (await fetch(`${url}/notes/top`)).text(), '"top"!')
        },
        (app) => {
          app.addHook('preSerialization', async (_request, _reply, payload) => ({ ...(payload as object), by: 'hook' }))
          app.addHook('onSend', async (request, _reply, payload) =>
            request.url.endsWith('top') ? `${String(payload)}!` : payload,
          )
        },
      ),
    )

    it(
      'have the errors of hooks answered by the error handler of the app, and those of the service by the service',
      withApp(
        async (url) => {
          const own = await post(`${url}/notes/add`, { text: 'a' }, { 'x-how': 'throw' })
          assert.deepEqual([own.status, await own.json()], [418, { own: 'no' }])
          const big = await post(`${url}/notes/add`, { text: 'x'.repeat(200) })
          assert.deepEqual([big.status, await big.json()], [418, { own: 'FST_ERR_CTP_BODY_TOO_LARGE' }])
          const [taken] = await safe(client(notes, url).add({ text: 'taken' }))
          assert.equal(taken?.code, 'TAKEN')
        },
        (app) => {
          app.setErrorHandler((failure: { code?: string; message: string }, _request, reply) =>
            reply.code(418).send({ own: failure.code ?? failure.message }),
          )
          app.addHook('preHandler', async (request) => {
            if (request.headers['x-how'] === 'throw') throw new Error('no')
          })
        },
        { maxInputSize: 100 },
      ),
    )

    it(
      'leave what the service has not to the app',
      withApp(
        async (url) => {
          for (const path of ['/note', '/notes', '/notes/', '/', '/notes/1/2', '/add']) {
            const missing = await fetch(url + path)
            assert.deepEqual([missing.status, await missing.text()], [404, `no ${new URL(url).pathname}${path}`])
          }
          assert.equal(await (await fetch(url.replace('/api', '/own'))).text(), 'own')
        },
        (app) => {
          app.setNotFoundHandler(async (request, reply) => {
            reply.code(404)
            return `no ${request.url}`
          })
        },
      ),
    )

    it('run for one context only where they are encapsulated in it', async () => {
      calls = new Calls()
      app = fastify({ forceCloseConnections: true }) as FastifyInstance
      await app.register(async (inner) => {
        inner.addHook('preHandler', async (_request, reply) => reply.code(401).send())
        await inner.register(fastifyPlugin(calls.implementation), { prefix: '/closed' })
      })
      await app.register(fastifyPlugin(calls.implementation), { prefix: '/open/:tenant' })
      app.post('/json', (request, reply) => reply.send(request.body))
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      try {
        assert.equal((await post(`${url}/closed/notes/add`, { text: 'a' })).status, 401)
        assert.equal((await post(`${url}/open/ada/notes/add`, { text: 'a' })).status, 201)
        assert.deepEqual(await (await fetch(`${url}/open/ada/notes/7`)).json(), { id: '7' })
        assert.deepEqual(await (await post(`${url}/json`, { $date: 'x' })).json(), { $date: 'x' })
      } finally {
        await app.close()
      }
    })

    it('hear of a connection on which nothing moves', async () => {
      const timedOut = Promise.withResolvers<string>()
      const url = await start((app) => void app.addHook('onTimeout', async ({ url }) => timedOut.resolve(url)), {
        connectionTimeout: 100,
      })
      const sent = request(`${url}/api/notes/hang`, { method: 'POST', headers: { 'content-type': 'application/json' } })
      sent.on('error', () => {})
      sent.end('"a"')
      assert.equal(await timedOut.promise, '/api/notes/hang')
      assert.equal(await calls.left.promise, 'CALL_ABORTED')
      await app.close()
    })

    it('are asked by inject, too', async () => {
      await start()
      const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/notes/add', payload: { text: 'a' } })
      assert.deepEqual([statusCode, body], [201, '{"text":"a"}'])
      await app.close()
    })

    it('see the service as routes', async () => {
      const routes: string[] = []
      await start(
        (app) => void app.addHook('onRoute', ({ method, url }) => void routes.push(`${String(method)} ${url}`)),
      )
      for (const route of [
        'POST /api/notes/add',
        'POST /api/add',
        'GET /api/notes/:id',
        'DELETE /api/notes/:id',
        'POST /api/sum',
      ])
        assert.ok(routes.includes(route), route)
      await app.close()
    })

    it(
      'let pages of the listed origins call',
      withApp(
        async (url) => {
          const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
          const asked = await fetch(`${url}/notes/add`, { method: 'OPTIONS', headers })
          assert.deepEqual([asked.status, asked.headers.get('access-control-allow-origin')], [204, headers.origin])
          const made = await post(`${url}/notes/add`, { text: 'a' }, { origin: headers.origin, authorization: 'ada' })
          assert.equal(made.headers.get('access-control-allow-origin'), headers.origin)
          const refused = await post(`${url}/notes/add`, { text: 'a' }, { origin: headers.origin })
          assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [401, headers.origin])
        },
        (app) => {
          app.addHook('preHandler', async ({ headers }, reply) =>
            headers.authorization === undefined ? reply.code(401).send() : undefined,
          )
        },
        { cors: ['https://page.example'] },
      ),
    )
  })

  describe(`a class without a contract in ${version}`, () => {
    it('answers by its methods', async () => {
      class Calculator {
        add(a: number, b: number): number {
          return a + b
        }
      }
      const calc = service.from('calc', () => new Calculator())
      app = fastify({ forceCloseConnections: true }) as FastifyInstance
      await app.register(fastifyPlugin(calc, { log }), { prefix: '/api' })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      assert.equal(await client(calc, `${url}/api`).add(1, 2), 3)
      assert.equal((await post(`${url}/api/calc/subtract`, [1, 2])).status, 404)
      await app.close()
    })
  })
}
