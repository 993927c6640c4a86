import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InstanceTable } from '../../../src/shared/metrics/instance-table.ts'
import { Sampler } from '../../../src/shared/metrics/sampler.ts'
import { tryOut, whyWorse } from '../../../src/supervisor/generations/trial.ts'
import { callAgainAndAgain, ChangingApp } from './changing-app.ts'

const answering = (code: string): string =>
  `import { createServer } from 'node:http'
  createServer((request, response) => ${code}).listen(3000)`

const limits = { errors: 2, p99: 2, calls: 100 }
const good = { calls: 1000, errors: 0.02, unanswered: 0.1, timed: 1000, median: 5, p99: 20 }

test('a generation is worse if it fails more often or is slower by the factor, and had enough calls', () => {
  assert.equal(whyWorse(good, good, limits), undefined)
  assert.equal(whyWorse(good, { ...good, errors: 0.039, p99: 39 }, limits), undefined)
  assert.equal(whyWorse(good, { ...good, errors: 0.05 }, limits), 'errors')
  assert.equal(whyWorse({ ...good, errors: 0 }, { ...good, errors: 0.009 }, limits), undefined)
  assert.equal(whyWorse(good, { ...good, p99: 50 }, limits), 'p99')
  assert.equal(whyWorse({ ...good, p99: 1 }, { ...good, p99: 4 }, limits), undefined)
  const few = { calls: 99, errors: 1, unanswered: 0, timed: 99, median: 5, p99: 1000 }
  assert.equal(whyWorse(good, few, limits), undefined)
  // Half of few calls were slower than nearly all of many.
  assert.equal(whyWorse(good, { ...few, timed: 5, median: 41 }, limits), 'median')
  assert.equal(whyWorse(good, { ...few, timed: 4, median: 41 }, limits), undefined)
  assert.equal(whyWorse({ ...good, calls: 99 }, { ...few, median: 41 }, limits), undefined)
  assert.equal(whyWorse({ ...good, calls: 0, errors: 0, p99: 0 }, { ...good, errors: 0.5 }, limits), 'errors')
  assert.equal(whyWorse(good, { ...good, calls: 1, unanswered: 1 }, limits), 'unanswered')
  assert.equal(whyWorse({ ...good, unanswered: 0.6 }, { ...good, unanswered: 1 }, limits), undefined)
})

for (const run of ['thread', 'shared', 'process'])
  test(`a generation that fails in its trial is discarded, in a ${run}`, async () => {
    const trial = { trial: { window: 1500, calls: 1, p99: 1000 } }
    await using app = await ChangingApp.start({ web: { run }, cart: { run } }, trial)
    const before = await app.ask('cart')
    const stopCalling = callAgainAndAgain(app)
    const program = (status: number): string => answering(`response.writeHead(${status}).end('{}')`)
    app.folder.write('program.mjs', program(500))
    await assert.rejects(app.app.running.reload(), {
      code: 'GENERATION_WORSE',
      message: /% of its \d+ calls failed, and 0\.0 % of the \d+ calls of the running one/,
    })
    assert.deepEqual(await app.ask('cart'), before)
    app.folder.write('program.mjs', program(200))
    await app.app.running.reload()
    await stopCalling()
    assert.deepEqual(await app.ask('cart'), {})
  })

test('a service is compared with itself, by the time that its calls took in its instances', async (t) => {
  const table = new InstanceTable({ rows: 2, services: [{ name: 'web' }, { name: 'cart' }] })
  const clock = t.mock.method(performance, 'now', () => 0)
  const take = (row: number, service: string, milliseconds: number): void => {
    const cells = table.at(row, service)
    cells.countStart()
    clock.mock.mockImplementation(() => 0)
    const timer = table.timesAt(row, service, new Sampler()).begin()!
    clock.mock.mockImplementation(() => milliseconds)
    timer.end()
    cells.countEnd(false)
  }
  const trial = { window: 1, ...limits }
  const { signal } = new AbortController()
  const first = tryOut(trial, table, { old: [0], young: [1] }, signal)
  // The callers of both generations call the slow one: `web` is as slow in both.
  for (const row of [0, 1])
    for (let n = 0; n < 100; n++) {
      take(row, 'web', 80)
      take(row, 'cart', row === 0 ? 10 : 80)
    }
  await assert.rejects(first, { code: 'GENERATION_WORSE', service: 'cart', message: /its p99 was 8\d\.\d ms/ })
  await tryOut(trial, table, { old: [0], young: [1] }, signal)
})

test('while the new generation starts slowly, its times do not count, and its failures do', async (t) => {
  const table = new InstanceTable({ rows: 2, services: [{ name: 'web' }] })
  const clock = t.mock.method(performance, 'now', () => 0)
  const rows = { old: [0], young: [1] }
  const { signal } = new AbortController()
  const answer = (row: number, milliseconds: number, failed: boolean): void => {
    const cells = table.at(row, 'web')
    cells.countStart()
    clock.mock.mockImplementation(() => 0)
    const timer = table.timesAt(row, 'web', new Sampler()).begin()!
    clock.mock.mockImplementation(() => milliseconds)
    timer.end()
    cells.countEnd(failed)
  }
  const start =
    (failed: boolean): (() => Promise<void>) =>
    async () => {
      for (let n = 0; n < 100; n++) for (const row of [0, 1]) answer(row, row === 0 ? 10 : 80, row === 1 && failed)
    }
  assert.deepEqual(await tryOut({ window: 1, ...limits }, table, rows, signal, start(false)), [])
  const worse = tryOut({ window: 1, ...limits }, table, rows, signal, start(true))
  await assert.rejects(worse, { code: 'GENERATION_WORSE', message: /100\.0 % of its 100 calls failed/ })
})

test('a service whose clients keep their connections to the running generation is named as not compared', async () => {
  const table = new InstanceTable({ rows: 2, services: [{ name: 'web' }, { name: 'gone' }, { name: 'idle' }] })
  for (const service of ['web', 'idle']) table.at(1, service).state = 'serving'
  const trial = tryOut({ window: 1, ...limits }, table, { old: [0], young: [1] }, new AbortController().signal)
  for (const service of ['web', 'gone'])
    for (let n = 0; n < 100; n++) {
      table.at(0, service).countStart()
      table.at(0, service).countEnd(false)
    }
  assert.deepEqual(await trial, [{ service: 'web', running: 100, next: 0 }])
})

test('a service that is slower than before is discarded, although only its callers measure the latency', async () => {
  const trial = { trial: { window: 4000, calls: 2 } }
  const services = { web: { run: 'shared' }, cart: { run: 'process', path: './cart.mjs' } }
  const files = { 'cart.mjs': answering("response.end('{}')") }
  await using app = await ChangingApp.start(services, trial, {}, files)
  const stopCalling = callAgainAndAgain(app)
  app.folder.write('cart.mjs', answering("setTimeout(() => response.end('{}'), 1000)"))
  await assert.rejects(app.app.running.reload('cart'), {
    code: 'GENERATION_WORSE',
    service: 'cart',
    message: /its p99/,
  })
  await stopCalling()
})

const hanging = [
  ['thread', 'does not answer any more', '{}'],
  ['process', 'does not answer any more', '{}'],
  ['thread', 'blocks its event loop', '{ for (;;); }'],
  ['process', 'blocks its event loop', '{ for (;;); }'],
] as const
for (const [run, what, code] of hanging)
  test(`a service that ${what} is discarded, however few calls it got (${run})`, async () => {
    const rest = { trial: { window: 1000 }, stopTimeout: 1000 }
    await using app = await ChangingApp.start({ web: { run: 'thread' }, cart: { run } }, rest)
    const stopCalling = callAgainAndAgain(app)
    app.folder.write('program.mjs', answering(code))
    await assert.rejects(app.app.running.reload('cart'), {
      code: 'GENERATION_WORSE',
      message: /of its \d+ calls were not answered by the end/,
    })
    assert.ok((await app.ask('cart')).id !== undefined)
    await stopCalling()
  })

test('a service whose health checks fail in its trial is discarded', async () => {
  const cart = { run: 'thread', health: { path: '/health', interval: 50, unhealthyAfter: 1 } }
  await using app = await ChangingApp.start({ web: { run: 'thread' }, cart }, { trial: { window: 1000 } })
  const before = await app.ask('cart')
  const once = "response.writeHead(globalThis.checked ? 503 : 200).end('{}'); globalThis.checked = true"
  app.folder.write('program.mjs', answering(`{ ${once} }`))
  await assert.rejects(app.app.running.reload('cart'), { code: 'GENERATION_WORSE', message: /health checks fail/ })
  assert.deepEqual(await app.ask('cart'), before)
})

test('a stop ends a trial at once', async () => {
  await using app = await ChangingApp.start({ web: { run: 'thread' } }, { trial: { window: 600_000 } })
  const reload = app.app.running.reload()
  const refused = assert.rejects(reload, { code: 'APP_NOT_RUNNING' })
  const seen = new Set<string>()
  while (seen.size < 2) seen.add(await (await app.get('/')).text())
  await app.app.running.stop()
  await refused
})
