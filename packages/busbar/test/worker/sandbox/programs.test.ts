import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hostPrograms } from './support/hosted-app.ts'

/** Unmodified programs as users write them. Each answers with its own name. */
const table = [
  ['node-http', 'calls listen() on node:http', '[::]:3000'],
  ['commonjs', 'guards with require.main === module and module.parent', '[::]:3000'],
  ['typescript', 'guards with import.meta.main in TypeScript', '[::]:3000'],
  ['typescript-commonjs', 'is CommonJS in TypeScript', '[::]:3000'],
  ['path-guard', 'compares process.argv[1] with import.meta.url', '[::]:3000'],
  ['top-level-await', 'listens on port 0 between top-level awaits', undefined],
  ['late-listen', 'listens long after its module is done', undefined],
  ['fastify5', 'is Fastify 5', undefined],
  ['fastify4', 'is Fastify 4', undefined],
  ['express5', 'is Express 5', '[::]:3000'],
  ['express4', 'is Express 4', '[::]:3000'],
  ['koa', 'is Koa', '[::]:3000'],
  ['hono', 'is Hono on its Node server', '[::]:3000'],
  ['nest', 'is Nest as JavaScript', undefined],
  ['http2', 'is http2 without TLS', '[::]:3000'],
  ['https', 'is https', '[::]:3000'],
  ['export-fastify', 'exports a Fastify instance', undefined],
  ['export-express', 'exports an Express 5 app', undefined],
  ['export-express4', 'exports an Express 4 app', undefined],
  ['export-koa', 'exports a Koa app', undefined],
  ['export-hono', 'exports a Hono app', undefined],
  ['export-nest', 'exports the promise of a Nest app', undefined],
  ['export-listener', 'exports a request listener', undefined],
  ['export-server', 'exports an http.Server', undefined],
  ['export-fetch', 'exports { fetch }', undefined],
  ['export-factory', 'exports an async function that returns an app', undefined],
  ['export-main', 'exports a function that listens by itself', '[::]:3000'],
] as const

suite('a program runs unmodified when it', { concurrency: 2 }, () => {
  for (const [program, behaviour, listens] of table) {
    test(`${behaviour} (${program})`, async () => {
      await using app = await hostPrograms({ it: { program, startTimeout: 60_000 } })
      const ways =
        program === 'https' || program === 'http2' ? (['connect'] as const) : (['accept', 'connect'] as const)
      for (const way of ways) {
        const answer = (await app.json('it', '/', way)) as { hello: string }
        assert.equal(answer.hello, program)
      }
      if (listens !== undefined) assert.equal(app.report('it').listens, listens)
      assert.deepEqual(app.report('it').warnings, [])
      const { closed, states } = await app.stop()
      assert.equal(closed, ways.length - 1)
      assert.deepEqual(states, ['stopped'])
      assert.deepEqual(app.faults, [])
    })
  }
})
