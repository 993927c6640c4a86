import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import type { Service } from '../../../src/config/app.ts'
import type { HealthCheck } from '../../../src/shared/app/supervision.ts'
import { BusbarError } from '../../../src/contract/errors.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const programs = `${dirname(import.meta.dirname)}/programs`
const file = `${programs}/health.js`

const check: HealthCheck = {
  path: '/health',
  interval: 20,
  timeout: 5_000,
  unhealthyAfter: 2,
  healthyAfter: 2,
  restartAfter: false,
}

interface Answer {
  readonly id: number
  readonly checks: number
}

/** An app whose gateway leads to the service. */
function appWith(health: Partial<HealthCheck>, more: Partial<Service>): Parameters<typeof TestApp.start>[0] {
  const service = { file, run: 'thread', instances: 2, health: { ...check, ...health }, ...more } as const
  return {
    services: { web: service },
    gateway: { entry: undefined, routes: [{ host: undefined, prefix: '', service: 'web' }] },
  }
}

async function ask(app: TestApp, path = '/'): Promise<Answer> {
  const response = await fetch(app.url + path, { headers: { connection: 'close' } })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

/** Asks until both instances have answered. */
async function instancesOf(app: TestApp): Promise<Set<number>> {
  const found = new Set<number>()
  for (let asked = 0; asked < 500 && found.size < 2; asked++) found.add((await ask(app)).id)
  assert.equal(found.size, 2)
  return found
}

function unhealthyOf(app: TestApp): (string | null)[] {
  return app.running.status().instances.map(({ unhealthy }) => unhealthy)
}

async function untilUnhealthy(app: TestApp, count: number): Promise<void> {
  await pollUntil(
    () => unhealthyOf(app).filter((why) => why !== null).length === count,
    () => unhealthyOf(app),
  )
}

describe('an instance whose health checks fail', () => {
  for (const placement of [{ run: 'thread' }, { run: 'process' }, { run: 'thread', concurrency: 4 }] as const) {
    const { run } = placement
    const limited = 'concurrency' in placement ? ', with concurrency' : ''

    test(`gets no new calls while another serves (${run}${limited})`, async () => {
      await using app = await TestApp.start(appWith({}, placement))
      const { id } = await ask(app, '/set?status=500')
      await untilUnhealthy(app, 1)
      assert.ok(unhealthyOf(app).includes('GET /health: status 500'))
      assert.ok(app.running.status().app.ready)
      for (let asked = 0; asked < 50; asked++) assert.notEqual((await ask(app)).id, id)
    })
  }

  test('serves again after checks have passed', async () => {
    using folder = new TestFolder({ ready: '' })
    const READY_FILE = folder.at('ready')
    await using app = await TestApp.start(appWith({}, { env: { READY_FILE } }))
    const both = await instancesOf(app)
    rmSync(READY_FILE)
    await untilUnhealthy(app, 2)
    writeFileSync(READY_FILE, '')
    await untilUnhealthy(app, 0)
    assert.deepEqual(await instancesOf(app), both)
    assert.ok(app.log.some(({ line }) => line.includes('is healthy again')))
  })

  test('is the last one: the app is not ready, and calls get a 503', async () => {
    await using app = await TestApp.start(appWith({}, { instances: 1 }))
    await ask(app, '/set?status=500')
    await untilUnhealthy(app, 1)
    const { ready, unready } = app.running.status().app
    assert.deepEqual([ready, unready], [false, ['web']])
    const response = await fetch(app.url)
    assert.equal(response.status, 503)
    assert.match(await response.text(), /SERVICE_UNAVAILABLE/)
  })

  for (const run of ['thread', 'process', 'shared'] as const)
    test(`is replaced after the configured number of failed checks (${run})`, async () => {
      await using app = await TestApp.start(appWith({ restartAfter: 4 }, { run, instances: 1 }))
      const { id } = await ask(app, '/set?status=500')
      await app.untilLogged('was replaced')
      await untilUnhealthy(app, 0)
      assert.notEqual((await ask(app)).id, id)
      assert.ok(app.log.some(({ line }) => line.includes('4 health checks of service') && line.includes('status 500')))
      assert.equal(
        app.running.workers.reduce((sum, { deaths }) => sum + deaths, 0),
        0,
      )
    })

  test('is replaced even if its entry takes raw connections', async () => {
    const health = { ...check, restartAfter: 3 }
    await using app = await TestApp.start({ services: { web: { file, health } } })
    const { id } = await ask(app, '/set?status=500')
    await app.untilLogged('was replaced')
    assert.notEqual((await ask(app)).id, id)
  })
})

test('a check that is not answered in time fails', async () => {
  await using app = await TestApp.start(appWith({ timeout: 50 }, { instances: 1 }))
  await ask(app, '/set?status=0')
  await untilUnhealthy(app, 1)
  assert.deepEqual(unhealthyOf(app), ['GET /health: no answer within 50 ms'])
})

test('checks are no calls: they are not counted', async () => {
  await using app = await TestApp.start(appWith({}, { instances: 1 }))
  const { checks } = await ask(app)
  let asked = 1
  while ((await ask(app)).checks < checks + 3) asked++
  asked++
  // A call counts when it is over, which its client may learn first.
  await pollUntil(() => {
    const { instances, calls } = app.running.status()
    return instances[0]!.calls >= asked && (calls[0]?.count ?? 0) >= asked
  })
  const { instances, calls } = app.running.status()
  assert.equal(instances[0]!.calls, asked)
  assert.deepEqual(
    calls.map(({ caller, count }) => [caller, count]),
    [['', asked]],
  )
})

describe('the start of a service with a health check', () => {
  for (const run of ['thread', 'process'] as const)
    test(`lasts until the first check has passed (${run})`, async () => {
      using folder = new TestFolder({})
      const env = { READY_FILE: folder.at('ready') }
      const start = TestApp.start(appWith({}, { run, instances: 1, env }))
      let isOver = false
      void start.then(() => (isOver = true))
      await pollUntil(() => existsSync(`${env.READY_FILE}.asked`))
      assert.equal(isOver, false)
      writeFileSync(env.READY_FILE, '')
      await using app = await start
      assert.ok((await ask(app)).checks > 1)
    })

  test('fails when none passes within startTimeout', async () => {
    const env = { READY_FILE: '/nowhere/ready' }
    await assert.rejects(
      TestApp.start(appWith({}, { instances: 1, env, startTimeout: 2500 })),
      (error) =>
        BusbarError.is(error, 'PROGRAM_START_TIMEOUT') && /health check did not pass.*status 503/.test(error.message),
    )
  })
})

test('a command is checked, too', async () => {
  using folder = new TestFolder({})
  const env = { READY_FILE: folder.at('ready') }
  writeFileSync(env.READY_FILE, '')
  const entry = { file: process.execPath, args: [file], nodeOptions: [], foundBy: 'command' }
  const command = { kind: 'command', run: 'process', instances: 1, entry, env } as const
  await using app = await TestApp.start(appWith({ restartAfter: 5 }, command))
  const { id } = await ask(app, '/set?status=404')
  await app.untilLogged('was replaced')
  assert.notEqual((await ask(app)).id, id)
})
