import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { BroadcastChannel } from 'node:worker_threads'
import type { Service } from '../../../src/config/app.ts'
import type { StartOptions } from '../../../src/supervisor/running-app.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { Connection } from '../../support/http/raw-connection.ts'
import {
  ask,
  deathsOf,
  failed,
  forever,
  named,
  serving,
  startPool,
  type Call,
} from '../../support/app/instance-pool.ts'

const runaway: Call = { name: 'runaway', ms: forever, options: { timeout: 100, priority: 1 } }
/** Peers may learn of the end of the link before or after the end of the thread. */
const died = new Set<string | undefined>(['WORKER_DIED', 'LINK_LOST'])
const crash: Call = { name: 'crash', ms: -1, options: { priority: 1 } }

test('a call that never stops loses only itself, and a spare that was ready replaces its thread', async () => {
  await using app = await start({ instances: 2 })
  const ready = loaded(app)
  const before = await threadsThatAnswer(app)
  assert.equal(before.size, 2)
  const [first, ...others] = await ask(app, [runaway, ...named('other', 40)])
  assert.equal(first!.code, 'DEADLINE_EXCEEDED')
  assert.deepEqual(failed(others), [])
  await app.until(() => deathsOf(app) === 1 && serving(app) === 2)
  const after = await threadsThatAnswer(app)
  assert.equal(after.size, 2)
  const [taken, ...more] = without(after, before)
  assert.deepEqual(more, [])
  assert.ok(ready.has(taken!))
})

test('with a single thread, calls that wait behind one that never stops go to the spare', async () => {
  await using app = await start({ instances: 1 })
  const known = await threadsThatAnswer(app)
  for (let time = 1; time <= 5; time++) {
    await untilSpares(app, 1)
    const spare = await newThread(app, known)
    const [first, ...others] = await ask(app, [runaway, ...named(`time ${time}`, 5)])
    assert.equal(first!.code, 'DEADLINE_EXCEEDED')
    assert.deepEqual(failed(others), [])
    assert.deepEqual(new Set(others.map(({ thread }) => thread)), new Set([spare]))
    await app.until(() => deathsOf(app) === time && serving(app) === 1)
  }
})

test('a thread that crashes loses only its current call, and a spare that was ready replaces it', async () => {
  await using app = await start({ instances: 2 })
  const ready = loaded(app)
  const before = await threadsThatAnswer(app)
  const [first, ...others] = await ask(app, [crash, ...named('other', 40)])
  assert.ok(died.has(first!.code))
  assert.deepEqual(failed(others), [])
  await app.until(() => deathsOf(app) === 1 && serving(app) === 2)
  const [taken] = without(await threadsThatAnswer(app), before)
  assert.ok(ready.has(taken!))
  await untilSpares(app, 2)
})

test('a thread that crashes repeatedly is replaced without end, and so is its spare', async () => {
  await using app = await start({ instances: 1 }, { timing: { backoff: 10, backoffMax: 10 } })
  for (let time = 1; time <= 8; time++) {
    const [outcome] = await ask(app, [crash])
    assert.ok(died.has(outcome!.code))
    await app.until(() => deathsOf(app) === time && stateOf(app) === 'serving')
    await untilAnswers(app)
  }
  await untilSpares(app, 1)
})

test('a spare that dies while it waits is logged and replaced, and the slot counts no death', async () => {
  await using app = await start({ instances: 1 })
  const known = await threadsThatAnswer(app)
  const first = await newThread(app, known)
  order(first, -1)
  await app.untilLogged('the spare of worker 1 (compute) died: ')
  await untilSpares(app, 1)
  const second = await newThread(app, known)
  assert.notEqual(second, first)
  assert.equal(deathsOf(app), 0)
  const [, next] = await ask(app, [runaway, { name: 'next', ms: 1 }])
  assert.equal(next!.thread, second)
})

test('spares that die repeatedly are replaced without end, and the slot counts no death', async () => {
  await using app = await start({ instances: 1 }, { timing: { backoff: 10, backoffMax: 10 } })
  const answering = await threadsThatAnswer(app)
  const known = new Set(answering)
  for (let time = 1; time <= 8; time++) {
    await untilSpares(app, 1)
    order(await newThread(app, known), -1)
    await app.until(() => app.log.filter(({ line }) => line.includes('the spare of worker')).length === time)
  }
  await untilSpares(app, 1)
  assert.deepEqual(await threadsThatAnswer(app), answering)
  assert.equal(deathsOf(app), 0)
})

test('a spare that hangs is ended and replaced', async () => {
  await using app = await start({ instances: 1 }, { timing: { stuck: 3000 } })
  const answering = await threadsThatAnswer(app)
  order(await newThread(app, new Set(answering)), forever)
  await app.untilLogged('the spare of worker 1 (compute) died: its event loop was blocked')
  await untilSpares(app, 1)
  assert.deepEqual(await threadsThatAnswer(app), answering)
  assert.equal(deathsOf(app), 0)
})

test('a spare gets no connections before its thread has died, and then all of them', async () => {
  const any = { file: `${dirname(import.meta.dirname)}/programs/any.js`, run: 'thread', spare: true } as const
  await using app = await TestApp.start({ services: { any } })
  await untilSpares(app, 1)
  const ready = app.running.workers[0]!.spare!.row
  const before = new Set<number | undefined>()
  for (let count = 0; count < 4; count++) {
    using connection = await Connection.open(app.port)
    before.add(await connection.thread())
  }
  assert.equal(before.size, 1)
  using victim = await Connection.open(app.port)
  victim.send('/exit')
  assert.equal(await victim.answer(), undefined)
  await app.untilLogged('serves again')
  using next = await Connection.open(app.port)
  assert.ok(!before.has(await next.thread()))
  assert.equal(app.running.workers[0]!.row, ready)
})

test('a restart replaces the spare too', async () => {
  await using app = await start({ instances: 1 })
  const before = loaded(app)
  await app.running.replace()
  await app.until(() => without(before, ended(app)).length === 0)
  await untilSpares(app, 1)
  await app.until(() => without(loaded(app), before).length === 2)
  const spare = await newThread(app, before)
  const [, next] = await ask(app, [runaway, { name: 'next', ms: 1 }])
  assert.equal(next!.thread, spare)
  await app.until(() => deathsOf(app) === 1)
})

test('a stop drains the spare like the thread: their exit handlers run', async () => {
  const app = await start({ instances: 2 })
  assert.equal(loaded(app).size, 4)
  await app.running.stop()
  assert.deepEqual(without(loaded(app), ended(app)), [])
  assert.equal(app.running.hung, 0)
})

test('a stop while the spare starts ends it at once', async () => {
  const app = await startPool({ spare: true })
  assert.ok(sparesOf(app).includes('starting'))
  await app.running.stop()
  assert.deepEqual(sparesOf(app), [])
})

test('the status shows the spare beside its worker, without calls', async () => {
  await using app = await start({ instances: 1 })
  const { workers, instances } = app.running.status()
  const compute = workers.find(({ name }) => name === 'compute')!
  assert.equal(compute.spare?.state, 'ready')
  assert.equal(workers.find(({ kind }) => kind === 'shared')!.spare, null)
  const before = instances.find(({ service }) => service === 'compute')!.calls
  await ask(app, named('more', 10))
  await ask(app, [runaway])
  await app.until(() => deathsOf(app) === 1 && serving(app) === 1)
  await ask(app, named('later', 10))
  const after = app.running.status().instances.filter(({ service }) => service === 'compute')
  assert.deepEqual(
    after.map(({ calls }) => calls),
    [before + 21],
  )
})

async function start(
  placement: Partial<Service> & Pick<Service, 'instances'>,
  options: Partial<StartOptions> = {},
): Promise<TestApp> {
  const app = await startPool({ spare: true, ...placement }, options)
  await untilAnswers(app)
  await untilSpares(app, placement.instances)
  return app
}

/** Peers learn of a worker slightly after it serves. */
async function untilAnswers(app: TestApp): Promise<void> {
  while (failed(await ask(app, named('first', 4))).length > 0);
}

/** The log of a worker arrives before its ready message. */
async function untilSpares(app: TestApp, count: number): Promise<void> {
  const ready = (): number => sparesOf(app).filter((state) => state === 'ready').length
  await app.until(() => ready() === count)
}

function sparesOf(app: TestApp): string[] {
  return app.running.workers.flatMap(({ spare }) => spare?.state ?? [])
}

/** The next thread that loads `compute`, besides the known ones. A log line may come late. */
async function newThread(app: TestApp, known: Set<number>): Promise<number> {
  await app.until(() => without(loaded(app), known).length > 0)
  const thread = without(loaded(app), known).at(-1)!
  known.add(thread)
  return thread
}

/** All threads that have loaded `compute`. */
function loaded(app: TestApp): Set<number> {
  return threadsThatLogged(app, 'loads in ')
}

/** The threads whose exit handlers ran. */
function ended(app: TestApp): Set<number> {
  return threadsThatLogged(app, 'ends in ')
}

function without(threads: Set<number>, others: Set<number>): number[] {
  return [...threads].filter((thread) => !others.has(thread))
}

function threadsThatLogged(app: TestApp, what: string): Set<number> {
  const lines = app.log.filter(({ line }) => line.startsWith(what))
  return new Set(lines.map(({ line }) => Number(line.slice(what.length))))
}

/** Makes so many calls that each instance gets some. */
async function threadsThatAnswer(app: TestApp): Promise<Set<number>> {
  const outcomes = await ask(app, named('probe', 20))
  return new Set(outcomes.map(({ thread }) => thread!))
}

/** Addressed to the thread itself, because a spare gets no calls. */
function order(thread: number, ms: number): void {
  const orders = new BroadcastChannel('pool')
  orders.postMessage({ thread, ms })
  orders.close()
}

/** The status of the only instance. */
function stateOf(app: TestApp): string | undefined {
  return app.running.workers.find(({ name }) => name === 'compute')?.state
}
