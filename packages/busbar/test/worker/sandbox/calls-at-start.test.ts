/** Programs that call another service before they listen. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/programs/calls-at-start`

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
