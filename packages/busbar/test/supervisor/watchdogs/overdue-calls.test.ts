import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { TestApp } from '../../support/app/test-app.ts'

const folder = `${dirname(import.meta.dirname)}/programs/overdue`
const forever = 1e9

/** The caller, the callee, and how the callee learns that the deadline has passed. */
const callers = [
  ['process', 'compute', 'compute', 'DEADLINE_EXCEEDED'],
  ['process', 'pages', 'pages', 'TimeoutError'],
  ['process', 'connection', 'pages', 'TimeoutError'],
  ['shared', 'compute', 'compute', 'DEADLINE_EXCEEDED'],
  ['shared', 'pages', 'pages', 'TimeoutError'],
  ['shared', 'connection', 'pages', 'TimeoutError'],
] as const

for (const [run, way, callee, code] of callers)
  test(`a thread that computes past the deadline of a ${run} caller by ${way} is replaced`, async () => {
    await using app = await start(run)
    const ask = async (ms: number, timeout: number): Promise<string> =>
      await (await fetch(`${app.url}/${way}/${ms}?${timeout}`, { headers: { connection: 'close' } })).text()
    const place = () => app.running.workers.find(({ name }) => name === callee)!
    while ((await ask(1, 60_000)) !== 'done');
    for (let time = 1; time <= 2; time++) {
      assert.equal(await ask(forever, 300), code)
      // A calling thread sees by itself that this one is blocked. Processes and connections do not.
      if (run === 'shared' && way !== 'connection') assert.equal(await ask(1, 60_000), 'done')
      await app.until(() => place().deaths === time && place().state === 'serving')
      assert.equal(place().lastExit?.text, `a call to ${callee} did not stop within 100 ms of its cancellation`)
      while ((await ask(1, 60_000)) !== 'done');
    }
  })

test('a thread that answers a process late, but within the grace, stays', async () => {
  await using app = await start('process', 60_000)
  const ask = async (ms: number, timeout: number): Promise<string> =>
    await (await fetch(`${app.url}/compute/${ms}?${timeout}`, { headers: { connection: 'close' } })).text()
  while ((await ask(1, 60_000)) !== 'done');
  assert.equal(await ask(800, 200), 'DEADLINE_EXCEEDED')
  assert.equal(await ask(1, 60_000), 'done')
  assert.deepEqual(new Set(app.running.workers.map(({ deaths }) => deaths)), new Set([0]))
})

for (const way of ['pages', 'connection'])
  test(`a call by ${way} that a process abandons before it has begun has no effect`, async () => {
    await using app = await start('process')
    const ask = async (ms: number, timeout: number): Promise<string> =>
      await (await fetch(`${app.url}/${way}/${ms}?${timeout}`, { headers: { connection: 'close' } })).text()
    while ((await ask(1, 60_000)) !== 'done');
    const long = ask(1500, 60_000)
    await app.untilLogged('computes for 1500')
    assert.equal(await ask(forever, 300), 'TimeoutError')
    assert.equal(await long, 'done')
    assert.equal(await ask(1, 60_000), 'done')
    assert.deepEqual(new Set(app.running.workers.map(({ deaths }) => deaths)), new Set([0]))
  })

async function start(run: 'process' | 'shared', grace = 100): Promise<TestApp> {
  const app = await loadApp(folder, { env: {} })
  const services = app.services.map((one) => (one.name === 'web' ? { ...one, run } : { ...one, grace }))
  return await TestApp.startLoaded({ ...app, services })
}
