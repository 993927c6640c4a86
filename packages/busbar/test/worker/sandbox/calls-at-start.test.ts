/** Programs that call another service before they listen. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/programs/calls-at-start`

const leavings = [
  'an idle kept connection',
  'a connection that it has closed',
  'a connection without a ref',
  'a response',
  'random bytes',
  'a key',
  'an idle stream of zlib',
]

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`a program that calls another service before it listens (${run})`, () => {
    for (const CLIENT of ['fetch', 'undici', 'http', 'typed'])
      it(`waits for its response, by ${CLIENT}`, async () => {
        await using app = await TestApp.start({
          gateway: { entry: 'web' },
          services: {
            slow: { file: `${folder}/slow.mjs`, run },
            settings: { file: `${folder}/settings/index.ts`, kind: 'typed', run },
            web: { file: `${folder}/index.mjs`, run, needs: ['slow', 'settings'], env: { CLIENT } },
          },
        })
        assert.equal(await (await fetch(app.url)).text(), 'late settings')
      })
  })

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`a program that leaves nothing open and does not listen (${run})`, () => {
    for (const LEAVES of leavings)
      it(`has ended, although it leaves ${LEAVES}`, { timeout: 60_000 }, async () => {
        const start = TestApp.start({
          services: {
            slow: { file: `${folder}/slow.mjs`, run },
            job: { file: `${folder}/ends.mjs`, run, needs: ['slow'], env: { LEAVES }, startTimeout: 120_000 },
          },
        })
        await assert.rejects(start, { code: 'PROGRAM_NEVER_LISTENED' })
      })
  })

it('a call from before the stop, and random bytes, do not delay a stop', { timeout: 60_000 }, async () => {
  await using app = await TestApp.start({
    services: {
      subscriber: { file: `${folder}/subscriber.mjs`, run: 'thread', needs: ['slow'] },
      slow: { file: `${folder}/slow.mjs`, run: 'thread' },
    },
    stopTimeout: 120_000,
  })
  await app.until(() => app.log.some(({ line }) => line === 'was asked'))
  await app.running.stop()
  assert.ok(app.log.some(({ line }) => line === 'closes 1'))
})
