/** The counters of calls without an answer, and of calls to a worker that has ended. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { type AppSetup, appOf, pollUntil, TestApp } from '../../support/app/test-app.ts'

const file = `${dirname(import.meta.dirname)}/programs/any.js`
const front = { file, run: 'thread' } as const

const placements = {
  'a shared worker': { file, run: 'shared' },
  'a thread': { file, run: 'thread' },
  'a process': { file, run: 'process' },
} as const

for (const [name, any] of Object.entries(placements))
  describe(`calls to a service in ${name}`, () => {
    test('count as failures when the client disconnects before the response', async () => {
      await using app = await started({ front, any })
      const request = get(`${app.url}/any/never`, { agent: false })
      const failed = once(request, 'error')
      await app.untilLogged('begins /never')
      request.destroy(new Error('gone'))
      await failed.catch(() => {})
      await counted(app, [1, 1])
    })

    test('count as failures at their timeout', async () => {
      const limits = { responseTimeout: 200 }
      await using app = await started({ front, any }, limits)
      assert.equal((await fetch(`${app.url}/any/never`)).status, 504)
      await counted(app, [1, 1])
    })

    test('count as failures when the worker dies, and earlier calls stay counted', async () => {
      await using app = await started({ front, any })
      for (let call = 0; call < 10; call++) assert.equal((await fetch(`${app.url}/any/`)).status, 200)
      await fetch(`${app.url}/any/exit`)
      await counted(app, [11, 1])
    })
  })

test('all calls to a killed process are counted', async () => {
  await using app = await started({ front, any: placements['a process'] })
  for (let round = 1; round <= 3; round++) {
    const lost = fetch(`${app.url}/any/never`)
    await app.until(() => app.log.filter(({ line }) => line.includes('begins /never')).length === round)
    for (let call = 0; call < 10; call++) assert.equal((await fetch(`${app.url}/any/`)).status, 200)
    // It kills itself: killed from outside, it could have answered a call and not counted it yet.
    assert.equal((await fetch(`${app.url}/any/kill`)).status, 502)
    assert.equal((await lost).status, 502)
    await app.untilReplaced(workerOf(app).worker, round)
    await counted(app, [12 * round, 2 * round])
  }
})

function started(services: AppSetup['services'], limits = {}): Promise<TestApp> {
  const routes = Object.keys(services).map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  const { limits: usual } = appOf({ services })
  return TestApp.start({ services, limits: { ...usual, ...limits }, gateway: { entry: undefined, routes } })
}

function workerOf(app: TestApp): TestApp['running']['workers'][number] {
  return app.running.workers.find(({ hosts }) => hosts.some(({ name }) => name === 'any'))!
}

/** A process reports once a second. */
async function counted(app: TestApp, wanted: [calls: number, failures: number]): Promise<void> {
  const seen = (): unknown => {
    const { calls, failures } = app.running.status().instances.find(({ service }) => service === 'any')!
    return [calls, failures]
  }
  await pollUntil(() => JSON.stringify(seen()) === JSON.stringify(wanted), seen)
}
