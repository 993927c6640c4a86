import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, noiseFloor, decidingThroughput } from '../../src/stats/compare-arms.ts'
import { quick } from '../../src/protocol/plan.ts'
import type { CellRound } from '../../src/protocol/round.ts'
import { summarise } from '../../src/stats/summary.ts'
import { cellOf, openOf, roundOf, sliceOf } from '../support/rounds.ts'

const timing = { ...quick, openShares: [0.7] }
const cells = [cellOf('good', undefined), cellOf('arm', 'good'), cellOf('good (again)', 'good', true)]

/** Factors of the machine in each of eight rounds, and of an arm and the control. */
const machine = [1, 1.2, 0.9, 1.05, 0.8, 1.1, 0.95, 1.15]
const own = [1, 1.01, 0.99, 1.005, 0.995, 1.01, 0.985, 1.002]

function recorded(arm: (at: number) => Partial<CellRound>) {
  const rounds = machine.map((speed, at) => {
    const good = { slices: [sliceOf(1000 * speed)], open: [openOf(8 * speed)] }
    const again = { slices: [sliceOf(1000 * speed * own[at]!)], open: [openOf(8 * speed * own.at(-at)!)] }
    return roundOf({ good, arm: arm(at), 'good (again)': again })
  })
  return summarise(cells, rounds, timing)
}

const slowedDown = (loss: number) =>
  recorded((at) => ({
    slices: [sliceOf(1000 * machine[at]! * own.at(-at)! * (1 - loss))],
    open: [openOf((8 * machine[at]! * own[at]!) / (1 - loss))],
  }))

const verdictsOf = (summaries: ReturnType<typeof recorded>) =>
  Object.fromEntries(compare(summaries, timing, 'perSecond').map(({ metric, verdict }) => [metric, verdict]))

test('a slow-down of 5, 8 and 20 % is found on a machine that varies by 20 %, within the interval', () => {
  for (const loss of [0.05, 0.08, 0.2]) {
    const found = compare(slowedDown(loss), timing, 'perSecond')
    for (const { metric, ratio, low, high, verdict } of found.filter(({ decides }) => decides)) {
      const truth = metric === 'p99' ? 1 / (1 - loss) : 1 - loss
      assert.equal(verdict, 'slower', metric)
      assert.ok(low <= truth && truth <= high && low < ratio && ratio < high, `${metric}: ${low} to ${high}`)
    }
  }
})

test('without a slow-down nothing is found', () => {
  const { perSecond, p99 } = verdictsOf(slowedDown(0))
  assert.deepEqual([perSecond, p99], ['no difference', 'no difference'])
})

test('the noise floor is the difference of the control, per metric', () => {
  const summaries = slowedDown(0)
  assert.ok(noiseFloor(summaries, 'perSecond') >= 1 && noiseFloor(summaries, 'perSecond') < 1.02)
  assert.ok(noiseFloor(summaries, 'p99', 0.7) >= 1)
})

test('a round in which one arm has no slice is left out for both, and others stay paired', () => {
  const summaries = recorded((at) => ({ slices: at === 0 ? [] : [sliceOf(2000 * machine[at]!)] }))
  const [found] = compare(summaries, timing, 'perSecond')
  assert.equal(found!.rounds, machine.length - 1)
  assert.ok(Math.abs(found!.ratio - 2) < 1e-9)
  assert.ok(found!.high - found!.low < 1e-6)
})

test('with a saturated load generator there is no verdict on requests per second', () => {
  const busy = { generator: { userSeconds: 1, systemSeconds: 0, busy: 0.99 } }
  const summaries = recorded((at) => ({ slices: [sliceOf(2000 * machine[at]!, busy)] }))
  assert.equal(decidingThroughput(summaries, false), 'perCpuSecond')
  const found = verdictsOf(summaries)
  assert.deepEqual([found['perSecond'], found['perCpuSecond']], ['invalid', 'faster'])
})

test('latency has no verdict if the generator was late, or if both arms were overloaded', () => {
  const late = recorded(() => ({ open: [openOf(8, { pacing: openOf(5).slice.result.latency })] }))
  assert.equal(verdictsOf(late)['p99'], 'invalid')
  const overloaded = { unsent: 500 }
  const one = recorded((at) => ({ open: [openOf(800 * machine[at]!, overloaded)] }))
  assert.equal(verdictsOf(one)['p99'], 'slower')
  const rounds = machine.map((speed) => {
    const both = { slices: [sliceOf(1000)], open: [openOf(800 * speed, overloaded)] }
    return roundOf({ good: both, arm: both, 'good (again)': both })
  })
  assert.equal(verdictsOf(summarise(cells, rounds, timing))['p99'], 'invalid')
})

test('an overloaded server may refuse and delay, but not answer wrongly', () => {
  const overloaded = (failures: Record<string, number>, statuses: Record<string, number>) =>
    recorded(() => ({
      slices: [sliceOf(1000)],
      open: [openOf(800, { unsent: 500, failures, statuses, firstProblem: 'so it was' })],
    })).find(({ cell }) => cell.name === 'arm')!
  assert.equal(overloaded({ timeout: 3, reset: 1 }, { 200: 700 }).valid, true)
  assert.equal(overloaded({ 'mismatch:status': 3 }, { 200: 700, 503: 3 }).valid, true)
  assert.equal(overloaded({ 'mismatch:status': 3 }, { 200: 700, 500: 3 }).valid, false)
  const wrong = overloaded({ 'mismatch:body': 1 }, { 200: 700 })
  assert.deepEqual(wrong.invalidBecause, ['at 70 % load, mismatch:body × 8: so it was'])
})

test('without an overload the same makes an arm invalid', () => {
  const arm = recorded(() => ({ slices: [sliceOf(1000)], open: [openOf(8, { failures: { timeout: 1 } })] })).find(
    ({ cell }) => cell.name === 'arm',
  )!
  assert.match(arm.invalidBecause.join(), /at 70 % load, timeout × 8/)
})

test('a cell is invalid if more than 30 % of its slices were lost', () => {
  const losing = (lost: number) =>
    recorded(() => ({ slices: [sliceOf(1000)], lost })).find(({ cell }) => cell.name === 'arm')!
  assert.deepEqual(losing(0).invalidBecause, [])
  assert.deepEqual(losing(1).invalidBecause, ['8 of 16 slices were lost to steal or throttling'])
})

test('faults during warm-up make an arm invalid, one sentence per kind with the count', () => {
  const fault = { kind: 'mismatch:body', count: 2, what: 'it was short' }
  const rounds = recorded(() => ({ slices: [sliceOf(1000)], faults: [fault] }))
  assert.deepEqual(rounds[1]!.invalidBecause, ['mismatch:body × 16: it was short'])
})
