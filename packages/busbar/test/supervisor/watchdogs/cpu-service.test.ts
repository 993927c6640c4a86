import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../src/config/app.ts'
import type { TestApp } from '../../support/app/test-app.ts'
import {
  ask,
  deathsOf,
  failed,
  forever,
  named,
  serving,
  startPool,
  type Outcome,
} from '../../support/app/instance-pool.ts'

test('a call that never stops fails at its deadline, and only its thread is replaced', async () => {
  await using app = await start({ instances: 2 })
  const runaway = { name: 'runaway', ms: forever, options: { timeout: 100 } }
  const others = named('other', 60)
  const outcomes = await ask(app, [runaway, ...others])
  assert.equal(outcomes[0]!.code, 'DEADLINE_EXCEEDED')
  assert.deepEqual(failed(outcomes.slice(1)), [])
  await app.until(() => deathsOf(app) === 1)
  const replaced = app.running.workers.find(({ deaths }) => deaths === 1)!
  assert.equal(replaced.lastExit?.why, 'overdue')
  assert.equal(replaced.lastExit?.text, 'a call to compute did not stop within 100 ms of its cancellation')
  await app.until(() => serving(app) === 2)
  const after = await ask(app, named('after', 20, 20))
  assert.equal(new Set(after.map(({ thread }) => thread)).size, 2)
})

test('threads are replaced at once each time: overdue calls cause no backoff', async () => {
  await using app = await start({ instances: 1 })
  for (let time = 1; time <= 7; time++) {
    // The first call of a thread takes longest. One that is too late to begin costs no thread.
    await ask(app, [{ name: `first ${time}`, ms: 1 }])
    const [runaway, next] = await ask(app, [
      { name: `runaway ${time}`, ms: forever, options: { timeout: 100, priority: 1 } },
      { name: `next ${time}`, ms: 1 },
    ])
    assert.deepEqual([runaway!.code, next!.code], ['DEADLINE_EXCEEDED', undefined])
    await app.until(() => deathsOf(app) === time && serving(app) === 1)
  }
})

test('a call whose deadline passes while it waits never begins; waiting calls are ordered by priority, then by arrival', async () => {
  await using app = await start({ instances: 1 })
  const outcomes = await ask(app, [
    { name: 'inside', ms: 400 },
    { name: 'too late', ms: 1, options: { timeout: 100, priority: 9 } },
    { name: 'first', ms: 1 },
    { name: 'low', ms: 1, options: { priority: -1 } },
    { name: 'high', ms: 1, options: { priority: 5 } },
    { name: 'second', ms: 1 },
  ])
  assert.deepEqual(failed(outcomes), [{ name: 'too late', code: 'DEADLINE_EXCEEDED' }])
  await app.untilLogged('begins low')
  const begun = app.log.flatMap(({ line }) => (line.startsWith('begins ') ? [line.slice('begins '.length)] : []))
  assert.deepEqual(begun.slice(begun.indexOf('inside')), ['inside', 'high', 'first', 'second', 'low'])
})

test('a thread whose call stops within the grace stays, and its spare is dropped', async () => {
  await using app = await start({ instances: 1, grace: 60_000 })
  const one = { name: 'one', ms: 1 }
  const [before] = await ask(app, [one])
  const [late, next] = await ask(app, [
    { name: 'late', ms: 800, options: { timeout: 100, priority: 1 } },
    { name: 'next', ms: 1 },
  ])
  assert.deepEqual([late!.code, next!.code], ['DEADLINE_EXCEEDED', undefined])
  let after: Outcome
  do {
    after = (await ask(app, [one]))[0]!
    assert.equal(after.code, undefined)
  } while (after.thread !== before!.thread)
  assert.equal(deathsOf(app), 0)
})

async function start(placement: Partial<Service> & Pick<Service, 'instances'>): Promise<TestApp> {
  const app = await startPool(placement)
  // Workers learn of each other slightly after the app has started.
  while (failed(await ask(app, named('first', 2 * placement.instances, 1))).length > 0);
  return app
}
