import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { Connection, openMany } from '../../support/http/raw-connection.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`

/** Ways to end a thread, and the expected exit. */
const ways = {
  '/exit': 'exit',
  '/throw': 'exception',
  '/reject': 'rejection',
  '/abort': 'rejection',
  '/loop': 'stuck',
  '/wait': 'stuck',
  '/memory': 'memory',
} as const

for (const [path, why] of Object.entries(ways)) {
  test(`a worker that ends by ${path} under load is replaced, and no other request fails`, async () => {
    const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }
    const timing = { stuck: 3000, watch: 100 }
    await using app = await TestApp.start({ services: { any }, workers: 2 }, { timing, resourceLimits })
    using connections = await openMany(app.port, 10)
    const threads = await Promise.all(connections.map((connection) => connection.thread()))
    const [victim] = connections
    const worker = threads.filter((thread) => thread === threads[0])
    const others = connections.filter((_, index) => threads[index] !== threads[0])
    assert.equal(worker.length, 5)
    for (const connection of others) connection.send('/later?ms=30')
    victim!.send(path)
    // Its in-flight requests fail as soon as the thread ends: their connections close.
    assert.equal(await victim!.answer(), undefined)
    const answers = await Promise.all(others.map((connection) => connection.answer()))
    assert.ok(answers.every((answer) => answer?.status === 200))
    await app.until(() => app.running.workers.some(({ deaths, state }) => deaths === 1 && state === 'serving'))
    const dead = app.running.workers.find(({ deaths }) => deaths === 1)!
    assert.equal(dead.lastExit?.why, why)
    assert.ok(app.log.some(({ line }) => line.startsWith(`worker ${dead.worker} died: `)))
    using later = await openMany(app.port, 4)
    const served = await Promise.all(later.map((connection) => connection.thread()))
    assert.ok(served.every((thread) => thread !== undefined && thread !== threads[0]))
  })
}

test('the gateway answers 502 for requests in flight on a worker that ends', async () => {
  const routes = [{ host: undefined, prefix: '/any', service: 'any' }]
  await using app = await TestApp.start({ services: { any }, gateway: { entry: undefined, routes } })
  using waiting = await Connection.open(app.port)
  using victim = await Connection.open(app.port)
  waiting.send('/any/never')
  await app.untilLogged('begins /never')
  victim.send('/any/throw')
  for (const connection of [waiting, victim]) {
    const answer = await connection.answer()
    assert.equal(answer?.status, 502)
    assert.equal((JSON.parse(answer.body) as { code: string }).code, 'WORKER_DIED')
  }
  await app.untilReplaced(0)
})

for (const run of ['thread', 'process'] as const)
  test(`without accelerators, the gateway says that a ${run} has died too`, async () => {
    const routes = [{ host: undefined, prefix: '/any', service: 'any' }]
    const gateway = { entry: undefined, routes }
    await using app = await TestApp.start({ accelerators: [], services: { any: { file: any, run } }, gateway })
    using victim = await Connection.open(app.port)
    victim.send('/any/throw')
    const answer = await victim.answer()
    assert.equal(answer?.status, 502)
    assert.equal((JSON.parse(answer.body) as { code: string }).code, 'WORKER_DIED')
  })

test('connections wait while the only worker is being replaced', async () => {
  await using app = await TestApp.start({ services: { any } })
  using victim = await Connection.open(app.port)
  victim.send('/exit')
  assert.equal(await victim.answer(), undefined)
  await app.until(() => app.running.workers[0]!.deaths === 1)
  assert.notEqual(app.running.workers[0]!.state, 'serving')
  using waiting = await openMany(app.port, 5)
  const threads = await Promise.all(waiting.map((connection) => connection.thread()))
  assert.ok(threads.every((thread) => thread !== undefined))
})

test('a worker that dies repeatedly is restarted without end, and the cause is shown', async () => {
  const timing = { backoff: 5, backoffMax: 5 }
  await using app = await TestApp.start({ services: { any } }, { timing })
  for (let death = 1; death <= 9; death++) {
    await kill(app)
    await app.untilReplaced(0, death)
  }
  const [worker] = app.running.status().workers
  assert.deepEqual([worker!.state, worker!.restarts, worker!.lastExit!.why], ['serving', 9, 'exit'])
})

for (const run of ['thread', 'process'] as const)
  test(`a ${run} that cannot restart is retried without end with its stack in the log, and serves when it can`, async () => {
    using folder = new TestFolder()
    const broken = folder.at('broken')
    const fragile = {
      file: `${dirname(import.meta.dirname)}/programs/fragile.js`,
      run,
      env: { BROKEN: broken },
    } as const
    const routes = [{ host: undefined, prefix: '/fragile', service: 'fragile' }]
    const timing = { backoff: 5, backoffMax: 5 }
    await using app = await TestApp.start({ services: { any, fragile }, gateway: { entry: 'any', routes } }, { timing })
    writeFileSync(broken, '')
    await fetch(`${app.url}/fragile/die`, { headers: { connection: 'close' } })
    await app.until(() => app.running.workers[1]!.deaths >= 9)
    const { app: status, workers } = app.running.status()
    assert.deepEqual([status.ready, status.unready], [false, ['fragile']])
    const { why, stack } = workers[1]!.lastExit!
    assert.equal(why, 'start')
    assert.match(stack.join('\n'), /^Error: there is the file\n\s+at .*fragile\.js:\d+:\d+/)
    const logged = app.log.filter(({ line }) => line.includes('fragile.js:'))
    assert.ok(logged.length >= 8 && logged.every(({ service, level }) => service === 'fragile' && level === 'error'))
    assert.equal((await fetch(`${app.url}/fragile`, { headers: { connection: 'close' } })).status, 503)
    using other = await Connection.open(app.port)
    assert.ok((await other.thread()) !== undefined)
    rmSync(broken)
    await app.until(() => app.running.workers[1]!.state === 'serving')
    assert.equal((await fetch(`${app.url}/fragile`, { headers: { connection: 'close' } })).status, 200)
    assert.equal(app.running.status().app.ready, true)
  })

test('an app with maxRestarts ends with the cause', async () => {
  const timing = { backoff: 1, backoffMax: 1 }
  await using app = await TestApp.start({ services: { any }, workers: 2, maxRestarts: 2 }, { timing })
  using kept = await Connection.open(app.port)
  const spared = await kept.thread()
  for (let death = 1; death <= 3; death++) {
    using victim = await untilOn(app, spared!)
    victim.send('/exit')
    assert.equal(await victim.answer(), undefined)
    if (death < 3)
      await app.until(() => app.running.workers.some((one) => one.deaths === death && one.state === 'serving'))
  }
  const end = await app.running.ended
  assert.ok(end.why === 'failed' && BusbarError.is(end.error, 'WORKER_RESTART_LIMIT'))
  assert.match(end.error.message, /restarted 2 times \(maxRestarts\); the last time, .*process\.exit\(7\)/)
})

test('a service that cannot start fails the start with its own error', async () => {
  const throws = `${dirname(import.meta.dirname)}/programs/throws.js`
  await assert.rejects(
    TestApp.start({ services: { any, throws }, workers: 2 }),
    (error) =>
      BusbarError.is(error, 'PROGRAM_THREW') &&
      error.service === 'throws' &&
      error.message.includes('no database') &&
      (error.stack ?? '').includes('throws.js'),
  )
})

test('a service that blocks its thread while it starts fails the start and is named', async () => {
  const blocks = { file: `${dirname(import.meta.dirname)}/programs/blocks.js`, startTimeout: 500 }
  await assert.rejects(
    TestApp.start({ services: { blocks } }, { timing: { watch: 50 } }),
    (error) => BusbarError.is(error, 'PROGRAM_START_TIMEOUT') && error.service === 'blocks',
  )
  await assert.rejects(
    TestApp.start({ services: { any, blocks } }, { timing: { watch: 50 } }),
    (error) => BusbarError.is(error, 'PROGRAM_START_TIMEOUT') && error.message.includes('blocks'),
  )
})

async function kill(app: TestApp): Promise<void> {
  using victim = await Connection.open(app.port)
  victim.send('/exit')
  assert.equal(await victim.answer(), undefined)
}

/** A connection to another thread than `spared`. */
async function untilOn(app: TestApp, spared: number): Promise<Connection> {
  for (;;) {
    const connection = await Connection.open(app.port)
    if ((await connection.thread()) !== spared) return connection
    connection[Symbol.dispose]()
  }
}
