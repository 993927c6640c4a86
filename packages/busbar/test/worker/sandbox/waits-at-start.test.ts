/** Programs that wait for something else than a call before they listen. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/waits-at-start.mjs`
const waits = ['zlib', 'a stream of zlib', 'crypto', 'WebCrypto', 'dns', 'fs', 'a child process']

for (const run of ['shared', 'process'] as const)
  describe(`a program that listens late (${run})`, () => {
    for (const WAITS of waits)
      it(`starts if it waits for ${WAITS}`, async () => {
        await using app = await TestApp.start({ services: { web: { file, run, env: { WAITS } } } })
        assert.equal(await (await fetch(app.url)).text(), 'listens')
      })
  })
