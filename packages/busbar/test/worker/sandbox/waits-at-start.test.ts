/** Programs that wait for something else than a call before they listen. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/waits-at-start.mjs`
const waits = [
  'zlib',
  'a stream of zlib',
  'crypto',
  'WebCrypto',
  'WebAssembly',
  'dns',
  'fs',
  'a Blob of a file',
  'a child process',
]

for (const run of ['shared', 'process'] as const)
  describe(`a program that listens late (${run})`, () => {
    for (const WAITS of waits)
      it(`starts if it waits for ${WAITS}`, async () => {
        await using app = await TestApp.start({ services: { web: { file, run, env: { WAITS } } } })
        assert.equal(await (await fetch(app.url)).text(), 'listens')
      })
  })

describe('a program that listens late, in a Node that does not show which work is under way', () => {
  const workerEntry = new URL('../../accelerators/programs/without-requests-at-work.ts', import.meta.url)

  for (const WAITS of ['zlib', 'a stream of zlib'])
    it(`starts with a warning if it waits for ${WAITS}`, async () => {
      const services = { web: { file, run: 'thread', env: { WAITS } } } as const
      await using app = await TestApp.start({ services }, { workerEntry })
      assert.equal(await (await fetch(app.url)).text(), 'listens')
      const warning = app.log.find(({ level, service }) => level === 'warn' && service === 'web')
      assert.match(warning?.line ?? '', /^service 'web': .* \(randomBytes with a callback does not show /)
    })
})
