import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarError } from '../../src/contract/errors.ts'
import { TestApp } from '../support/app.ts'
import { Connection, openMany } from '../support/connection.ts'

const any = `${import.meta.dirname}/programs/any.js`

/** Ways to end a thread, and the reason that must be told. */
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
  test(`a worker that ends by ${path} under load is replaced, and no other request suffers`, async () => {
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
    // What was in flight on it fails, and at once when the thread ends: the connections close.
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

test('the gateway answers 502 for what was in flight on a worker that ends', async () => {
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

test('connections that wait too long are closed', async () => {
  // The second death waits for longer than a connection may.
  const timing = { backlog: 100, backoff: 60_000, backoffMax: 60_000 }
  await using app = await TestApp.start({ services: { any } }, { timing })
  await kill(app)
  await app.untilReplaced(0)
  await kill(app)
  await app.until(() => app.running.workers[0]!.state === 'waiting')
  using waiting = await Connection.open(app.port)
  assert.equal(await waiting.answer(), undefined)
  await app.untilLogged('no worker serves')
})

test('an app whose only worker dies too often ends with the reason', async () => {
  const timing = { backoff: 1, backoffMax: 1 }
  await using app = await TestApp.start({ services: { any } }, { timing })
  for (let death = 1; death <= 6; death++) {
    await kill(app)
    await app.until(() => app.running.workers[0]!.deaths === death)
    if (death < 6) await app.untilReplaced(0, death)
  }
  const end = await app.running.ended
  assert.ok(end.why === 'failed' && BusbarError.is(end.error, 'WORKER_RESTART_LIMIT'))
  assert.match(end.error.message, /process\.exit|7/)
})

test('an app goes on with the workers that are left when one dies too often', async () => {
  const timing = { backoff: 1, backoffMax: 1 }
  await using app = await TestApp.start({ services: { any }, workers: 2 }, { timing })
  using kept = await openMany(app.port, 2)
  const threads = await Promise.all(kept.map((connection) => connection.thread()))
  for (let death = 1; death <= 6; death++) {
    using victim = await untilOn(app, threads[1]!)
    victim.send('/exit')
    assert.equal(await victim.answer(), undefined)
    const settled = death < 6 ? 'serving' : 'givenUp'
    await app.until(() => app.running.workers.some(({ deaths, state }) => deaths === death && state === settled))
  }
  assert.deepEqual(new Set(app.running.workers.map(({ deaths }) => deaths)), new Set([0, 6]))
  assert.ok(app.log.some(({ line, level }) => level === 'warn' && line.includes('left')))
  using still = await Connection.open(app.port)
  assert.equal(await still.thread(), threads[1])
  assert.equal(await kept[1]!.thread(), threads[1])
})

test('a service that cannot start fails the start with its own error', async () => {
  const throws = `${import.meta.dirname}/programs/throws.js`
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
  const blocks = { file: `${import.meta.dirname}/programs/blocks.js`, startTimeout: 500 }
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
