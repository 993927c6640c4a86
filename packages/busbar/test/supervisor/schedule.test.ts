import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScheduleEntry } from '../../src/config/app.ts'
import { Scheduler } from '../../src/supervisor/schedule/scheduler.ts'
import { nextTime } from '../../src/shared/time/cron-times.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const everySecond: ScheduleEntry = {
  name: 'job',
  cron: '* * * * * *',
  timeZone: undefined,
  target: { kind: 'task', file: '/task.js', env: {} },
  overlap: 'skip',
  jitter: 0,
  missed: 'skip',
  timeout: 60_000,
}

test('an entry runs at its times, and its history has each run', async () => {
  await using test = new TestSchedule([everySecond], async () => {})
  await test.until(({ succeeded }) => succeeded === 2)
  const { runs, failed, next } = test.stats
  assert.deepEqual(
    runs.map(({ planned, outcome, error }) => [planned % 1000, outcome, error]),
    [
      [0, 'succeeded', null],
      [0, 'succeeded', null],
    ],
  )
  assert.equal(runs[1]!.planned - runs[0]!.planned, 1000)
  assert.ok(runs[0]!.started! >= runs[0]!.planned)
  assert.equal(failed, 0)
  assert.ok(next! > Date.now() - 1000)
})

test('a run that fails is in the history with its reason, and the next one follows', async () => {
  let runs = 0
  await using test = new TestSchedule([everySecond], async () => {
    if (runs++ === 0) throw new Error('no paper')
  })
  await test.until(({ succeeded }) => succeeded === 1)
  assert.deepEqual([test.stats.runs[0]!.outcome, test.stats.runs[0]!.error], ['failed', 'no paper'])
  assert.ok(test.lines.some((line) => /^error schedule job: failed after \d+ ms: no paper$/.test(line)))
})

test('a run that takes too long is ended', async () => {
  await using test = new TestSchedule([{ ...everySecond, timeout: 50 }], (_, signal) => aborted(signal))
  await test.until(({ failed }) => failed === 1)
  assert.equal(test.stats.runs[0]!.error, 'it did not end within 50 ms')
})

test('a run that takes too long has failed, also if it then ends well, as a task that handles SIGTERM', async () => {
  const ended = (_: ScheduleEntry, signal: AbortSignal): Promise<void> => aborted(signal).catch(() => {})
  await using test = new TestSchedule([{ ...everySecond, timeout: 50 }], ended)
  await test.until(({ runs }) => runs[0]?.outcome !== undefined && runs[0].outcome !== 'running')
  assert.deepEqual([test.stats.runs[0]!.outcome, test.stats.runs[0]!.error], ['failed', 'it did not end within 50 ms'])
})

test("overlap 'skip': no run begins while the previous one runs", async () => {
  const gate = Promise.withResolvers<void>()
  await using test = new TestSchedule([everySecond], () => gate.promise)
  await test.until(({ runs }) => runs.length === 3)
  assert.deepEqual(
    test.stats.runs.map(({ outcome }) => outcome),
    ['running', 'overlapped', 'overlapped'],
  )
  gate.resolve()
})

test("overlap 'queue': one run waits, and begins when the previous one ends", async () => {
  const gate = Promise.withResolvers<void>()
  await using test = new TestSchedule([{ ...everySecond, overlap: 'queue' }], () => gate.promise)
  await test.until(({ runs }) => runs.length === 2)
  assert.deepEqual(
    test.stats.runs.map(({ outcome }) => outcome),
    ['running', 'overlapped'],
  )
  gate.resolve()
  await test.until(({ succeeded }) => succeeded >= 2)
})

test("overlap 'allow': runs are beside each other", async () => {
  const gate = Promise.withResolvers<void>()
  await using test = new TestSchedule([{ ...everySecond, overlap: 'allow' }], () => gate.promise)
  await test.until(({ running }) => running === 2)
  gate.resolve()
})

for (const [missed, runs] of [
  ['skip', ['missed']],
  ['run', ['missed', 'succeeded']],
] as const)
  test(`missed '${missed}': what happens after times at which the app did not run`, async () => {
    using folder = new TestFolder()
    const yearly = { ...everySecond, cron: '0 0 1 1 *', missed }
    {
      await using before = new TestSchedule([yearly], async () => {}, folder)
      assert.deepEqual(before.stats.runs, [])
    }
    const state = readdirSync(folder.at('state')).find((name) => name.endsWith('.json'))!
    folder.write(`state/${state}`, { job: Date.now() - 400 * 24 * 3_600_000 })
    await using test = new TestSchedule([yearly], async () => {}, folder)
    await test.until((stats) => stats.runs.length === runs.length && stats.running === 0)
    assert.deepEqual(
      test.stats.runs.map(({ outcome }) => outcome),
      runs,
    )
  })

test('a run that waits for the end of its jitter when the app stops is run by the next start', async () => {
  using folder = new TestFolder()
  const before = new TestSchedule([{ ...everySecond, jitter: 1e9 }], async () => {}, folder)
  const planned = before.stats.next!
  await before.until(({ next }) => next! > planned)
  await before[Symbol.asyncDispose]()
  await using after = new TestSchedule([everySecond], async () => {}, folder)
  await after.until(({ succeeded }) => succeeded > 0)
  assert.equal(after.stats.runs[0]!.planned, planned)
})

test("overlap 'queue': a run that waits when the app stops is run by the next start", async () => {
  using folder = new TestFolder()
  const queued: ScheduleEntry = { ...everySecond, overlap: 'queue' }
  const before = new TestSchedule([queued], (_, signal) => aborted(signal), folder)
  await before.until(({ runs }) => runs.length === 2)
  const [first] = before.stats.runs
  await before.scheduler.close(0)
  await using after = new TestSchedule([queued], async () => {}, folder)
  await after.until(({ succeeded }) => succeeded > 0)
  assert.equal(after.stats.runs[0]!.planned, first!.planned + 1000)
})

test('a last time in the future counts no more if it would cost the entry a time, else the time runs once', async () => {
  using folder = new TestFolder()
  const yearly = { ...everySecond, name: 'yearly', cron: '0 0 1 1 *' }
  await new TestSchedule([everySecond, yearly], async () => {}, folder)[Symbol.asyncDispose]()
  const state = readdirSync(folder.at('state')).find((name) => name.endsWith('.json'))!
  const next = nextTime(yearly.cron, undefined, new Date())!.getTime()
  folder.write(`state/${state}`, { job: Date.now() + 3 * 3_600_000, yearly: next + 1_000 })
  await using test = new TestSchedule([everySecond, yearly], async () => {}, folder)
  await test.until(({ succeeded }) => succeeded > 0)
  const warnings = test.lines.filter((line) => line.startsWith('warn'))
  assert.deepEqual(
    warnings.map((line) => line.replaceAll(/\d{4,}-\d\d-\S+Z/g, 'T').replace(/\d{5}/, 'N')),
    [
      'warn schedule job: its last time, T, is N s in the future: the clock was ahead then, or is behind now; its next time is T',
    ],
  )
  assert.ok(test.scheduler.stats[1]!.next! > next)
})

test('an entry that is new has missed nothing', async () => {
  await using test = new TestSchedule([{ ...everySecond, cron: '0 0 1 1 *', missed: 'run' }], async () => {})
  await sleep(50)
  assert.deepEqual(test.stats.runs, [])
})

test('a new version keeps the history of unchanged entries, and ends the planning of removed ones', async () => {
  let others = 0
  await using test = new TestSchedule([everySecond, { ...everySecond, name: 'other' }], async ({ name }) => {
    if (name === 'other') others++
  })
  await test.until(({ succeeded }) => succeeded === 1)
  test.scheduler.use({ schedule: [everySecond] })
  const seen = others
  await test.until(({ succeeded }) => succeeded === 3)
  assert.deepEqual([test.scheduler.stats.length, others], [1, seen])
})

test('closing waits for runs, and ends those that take longer than the limit', async () => {
  const test = new TestSchedule([everySecond], (_, signal) => aborted(signal))
  await test.until(({ running }) => running === 1)
  await test.scheduler.close(20)
  assert.equal(test.stats.runs[0]!.error, 'the app stops')
})

test('times follow the time zone, also when its clocks change', () => {
  const berlin = (after: string): string => nextTime('30 2 * * *', 'Europe/Berlin', new Date(after))!.toISOString()
  assert.equal(berlin('2026-01-10T00:00:00Z'), '2026-01-10T01:30:00.000Z')
  assert.equal(berlin('2026-07-10T00:00:00Z'), '2026-07-10T00:30:00.000Z')
  // On 29 March, 02:30 does not exist there.
  assert.equal(berlin('2026-03-28T12:00:00Z'), '2026-03-29T01:00:00.000Z')
})

for (const [cron, from, times] of [
  ['30 2,14 * * *', '2026-03-28T20:00Z', ['03-29T01:00', '03-29T12:30', '03-30T00:30']],
  ['30 2,14 * * *', '2026-10-24T20:00Z', ['10-25T00:30', '10-25T13:30', '10-26T01:30']],
  ['0,30 1-3 * * *', '2026-10-24T23:45Z', ['10-25T00:00', '10-25T00:30', '10-25T02:00']],
  ['*/30 2 * * *', '2026-10-24T20:00Z', ['10-25T00:00', '10-25T00:30', '10-25T01:00']],
] as const)
  test(`when clocks change, each time of a list runs once, and an interval follows the clock: ${cron} after ${from}`, () => {
    let at = new Date(from)
    const found = times.map(() => (at = nextTime(cron, 'Europe/Berlin', at)!))
    assert.deepEqual(
      found.map((time) => time.toISOString().slice(5, 16)),
      times,
    )
  })

/** A schedule with a state of its own. */
class TestSchedule implements AsyncDisposable {
  readonly scheduler: Scheduler
  readonly lines: string[] = []
  readonly #folder: TestFolder
  readonly #isOwn: boolean

  constructor(
    schedule: readonly ScheduleEntry[],
    run: (entry: ScheduleEntry, signal: AbortSignal) => Promise<void>,
    folder?: TestFolder,
  ) {
    this.#folder = folder ?? new TestFolder()
    this.#isOwn = folder === undefined
    const log = (level: string, line: string): void => void this.lines.push(`${level} ${line}`)
    this.scheduler = new Scheduler({ root: this.#folder.path, folder: this.#folder.at('state'), run, log })
    this.scheduler.use({ schedule })
  }

  get stats() {
    return this.scheduler.stats[0]!
  }

  async until(condition: (stats: TestSchedule['stats']) => boolean): Promise<void> {
    while (!condition(this.stats)) await sleep(10)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scheduler.close(1000)
    if (this.#isOwn) this.#folder[Symbol.dispose]()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => reject(signal.reason as Error))
  return promise
}
