import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { client, safe } from '../../src/contract/client-entry.ts'
import { fastifyPlugin } from '../../src/gateway/typed/adapters/index.ts'
import { NotesApp, versions, post, notes } from './support/fastify-notes.ts'

for (const [version, fastify] of versions) {
  const served = new NotesApp(fastify)

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
      served.during(async (url) => {
        assert.equal((await post(`${url}/notes/add`, { text: 'a' })).status, 201)
        await settled()
        assert.deepEqual(seen, order('/api/notes/add', 'preSerialization', 'onSend string'))
      }, note),
    )

    it(
      'run in their order around a failure, with onError',
      served.during(async (url) => {
        assert.equal((await post(`${url}/notes/add`, { text: 'taken' })).status, 409)
        await settled()
        assert.deepEqual(seen, order('/api/notes/add', 'onError TAKEN', 'preSerialization', 'onSend string'))
      }, note),
    )

    it(
      'run in their order around a stream',
      served.during(async (url) => {
        assert.equal((await fetch(`${url}/words/a`)).status, 200)
        await settled()
        assert.deepEqual(seen, order('/api/words/a', 'onSend object'))
      }, note),
    )

    for (const hook of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)
      it(
        `stop a call where ${hook} does, by a reply or by throwing`,
        served.during(
          async (url) => {
            assert.equal((await post(`${url}/notes/add`, { text: 'a' })).status, 401)
            const thrown = await post(`${url}/notes/add`, { text: 'a' }, { 'x-how': 'throw' })
            assert.equal(thrown.status, 403)
            assert.match(thrown.headers.get('content-type')!, /^application\/json/)
            assert.equal((await fetch(`${url}/words/a`)).status, 401)
            assert.deepEqual(served.calls.made, [])
            const signed = { authorization: 'ada' }
            assert.equal((await post(`${url}/notes/add`, { text: 'a' }, signed)).status, 201)
            assert.deepEqual(served.calls.made, ['add'])
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
      'see the input of the service, and may change it',
      served.during(
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
      'may decompress the body before the service reads it',
      served.during(
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
      'may change a result before and after it is serialised',
      served.during(
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
      'leave their own errors to the error handler of the app, and those of the service to the service',
      served.during(
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
      'leave unknown paths to the app',
      served.during(
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

    it('run only within their encapsulation context', async () => {
      const app = served.create()
      await app.register(async (inner) => {
        inner.addHook('preHandler', async (_request, reply) => reply.code(401).send())
        await inner.register(fastifyPlugin(served.calls.implementation), { prefix: '/closed' })
      })
      await app.register(fastifyPlugin(served.calls.implementation), { prefix: '/open/:tenant' })
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

    it('run for a connection that times out', async () => {
      const timedOut = Promise.withResolvers<string>()
      const url = await served.start((app) => void app.addHook('onTimeout', async ({ url }) => timedOut.resolve(url)), {
        connectionTimeout: 100,
      })
      const sent = request(`${url}/api/notes/hang`, { method: 'POST', headers: { 'content-type': 'application/json' } })
      sent.on('error', () => {})
      sent.end('"a"')
      assert.equal(await timedOut.promise, '/api/notes/hang')
      assert.equal(await served.calls.left.promise, 'CALL_ABORTED')
      await served.app.close()
    })

    it('also run for inject', async () => {
      await served.start()
      const { statusCode, body } = await served.app.inject({
        method: 'POST',
        url: '/api/notes/add',
        payload: { text: 'a' },
      })
      assert.deepEqual([statusCode, body], [201, '{"text":"a"}'])
      await served.app.close()
    })

    it('see the routes of the service', async () => {
      const routes: string[] = []
      await served.start(
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
      await served.app.close()
    })

    it(
      'let pages of the listed origins call',
      served.during(
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
}
