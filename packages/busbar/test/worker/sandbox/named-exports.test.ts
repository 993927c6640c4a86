/** A named export is served if a program has no default export. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { startFailureOf, hostPrograms } from './support/hosted-app.ts'

const files = [
  'express-app.mjs',
  'express-app.cjs',
  'express-compiled.cjs',
  'express-server.cjs',
  'fastify-app.mjs',
  'fastify-build.mjs',
  'fastify-build.cjs',
  'koa-app.cjs',
  'hono-app.mjs',
  'hono-fetch.mjs',
  'nest-app.cjs',
  'fetch.ts',
  'handler.mjs',
  'handler-middleware.mjs',
  'handler-fetch.mjs',
  'server.mjs',
  'passed-over.mjs',
  'default-first.mjs',
]

suite('a program that does not listen and has no default export is served by', { concurrency: 2 }, () => {
  for (const file of files)
    test(`an export of ${file}`, async () => {
      const hello = file.replace(/\.\w+$/, '').replace('nest-app', 'export-nest')
      await using app = await hostPrograms({ it: { program: `named/${file}`, startTimeout: 60_000 } })
      for (const way of ['accept', 'connect'] as const) {
        const answer = (await app.json('it', '/', way)) as { hello: string }
        assert.equal(answer.hello, hello)
      }
      assert.deepEqual(app.report('it').warnings, [])
      assert.deepEqual((await app.stop()).states, ['stopped'])
      assert.deepEqual(app.faults, [])
    })
})

suite('a named export', () => {
  test('is not served while the program may still listen by itself', async () => {
    await using app = await hostPrograms({ it: 'named/listens-late.mjs' })
    assert.deepEqual(await app.json('it'), { hello: 'listens-late' })
    assert.match(app.report('it').listens, /:4321$/)
  })

  test('is served after a wait, with a warning, if open handles remain', async () => {
    await using app = await hostPrograms({ it: { program: 'named/keeps-open.mjs', startTimeout: 2_000 } })
    assert.deepEqual(await app.json('it'), { hello: 'keeps-open' })
    assert.match(app.report('it').warnings.join(), /1000 ms.*export handler.*default export/)
  })

  test('that cannot be served is named in the error', async () => {
    const error = await startFailureOf({ shop: { program: 'broken/exports/named.mjs' } })
    assert.equal(error.code, 'PROGRAM_EXPORT_UNKNOWN')
    assert.match(error.message, /its export app is an object with the keys name/)
    assert.match(error.hint ?? '', /server, app, handler, fetch and build/)
  })
})
