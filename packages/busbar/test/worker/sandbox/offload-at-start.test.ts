import assert from 'node:assert/strict'
import { it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/offload-at-start.mjs`

it('a program waits for a task before it listens, in the pool that another one of its thread has created', async () => {
  await using app = await TestApp.start({
    services: {
      last: { file, run: 'shared', env: { ROLE: 'last' } },
      first: { file, run: 'shared', env: { ROLE: 'first' } },
    },
  })
  assert.equal(await (await fetch(app.url)).text(), 'listens')
})
