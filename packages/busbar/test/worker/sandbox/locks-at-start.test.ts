import assert from 'node:assert/strict'
import { it } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/locks-at-start.mjs`

for (const SIGNAL of ['', 'with a signal'])
  it(`a program waits for a lock before it listens, for which another one of its thread waits, too ${SIGNAL}`, async () => {
    await using app = await TestApp.start({
      services: {
        last: { file, run: 'shared', env: { ROLE: 'last', SIGNAL }, needs: ['holder'] },
        background: { file, run: 'shared', env: { ROLE: 'background' }, needs: ['holder'] },
        holder: { file, run: 'thread', env: { ROLE: 'holder' } },
      },
    })
    assert.equal(await (await fetch(app.url)).text(), 'listens')
  })
