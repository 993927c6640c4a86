import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { unless } from '../../support/mesh/accelerators.ts'

const folder = `${import.meta.dirname}/programs/cut`

interface Outcome {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
}

for (const run of ['shared', 'thread', 'process'] as const)
  test(
    `calls of a ${run} worker are retried if idempotent when its links to living processes are cut`,
    { skip: unless('exchange') },
    async () => {
      await using app = await start(run)
      const ask = async (what: string): Promise<Outcome> =>
        (await (await fetch(`${app.url}/${what}`, { headers: { connection: 'close' } })).json()) as Outcome
      const calls = Object.fromEntries(['read', 'write', 'GET', 'POST'].map((what) => [what, ask(what)])) as Record<
        string,
        Promise<Outcome>
      >
      for (const what of Object.keys(calls)) await app.untilLogged(`holds ${what}`)
      assert.deepEqual(await ask('cut'), { value: 2 })
      assert.deepEqual([await calls['read'], await calls['GET']], [{ value: 'done' }, { value: 'done' }])
      for (const what of ['write', 'POST']) {
        const { code, message } = (await calls[what])!
        assert.equal(code, 'LINK_LOST', message)
        assert.match(
          message!,
          /which worker [\w ()]+ was answering: worker [\w ()]+ (?:has|is) .*; it is alive and has a new link; it may have/,
        )
        assert.match(message!, /is not retried because it is not idempotent$/)
      }
      assert.deepEqual(await ask('counts'), { value: { read: 2, write: 1, GET: 2, POST: 1 } })
      assert.deepEqual(new Set(app.running.workers.map(({ deaths }) => deaths)), new Set([0]))
    },
  )

async function start(run: 'shared' | 'thread' | 'process'): Promise<TestApp> {
  const app = await loadApp(folder, { env: {} })
  return await TestApp.startLoaded({
    ...app,
    services: app.services.map((one) => (one.name === 'web' ? { ...one, run } : one)),
  })
}
