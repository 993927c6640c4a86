import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compareResults, isRegression, readResult } from '../../src/stats/compare-runs.ts'
import { changesReport } from '../../src/report/changes.ts'
import { resultOf, type Recorded } from '../support/result.ts'

/** Twelve rounds on a machine that varies by 10 %, with an arm at a given ratio to its baseline. */
function rounds(ratio: number, speed = 1): Record<'baseline' | 'arm', Recorded> {
  const machine = [1, 1.1, 0.95, 1.04, 0.9, 1.08, 1.02, 0.93, 1.06, 0.98, 1.03, 0.96]
  const own = [1.01, 0.99, 1.005, 0.985, 1.02, 0.995, 1, 1.015, 0.99, 1.01, 0.98, 1.005]
  return {
    baseline: { perSecond: machine.map((value) => 10_000 * speed * value) },
    arm: { perSecond: machine.map((value, at) => 10_000 * speed * value * own[at]! * ratio) },
  }
}

const verdicts = (...results: Parameters<typeof compareResults>) =>
  Object.fromEntries(compareResults(...results).changes.map(({ arm, verdict }) => [arm, verdict]))

test('a loss of 5, 8 or 20 % against the baseline is a regression, within the interval', () => {
  const before = resultOf(rounds(2))
  for (const loss of [0.05, 0.08, 0.2]) {
    const changes = compareResults(before, resultOf(rounds(2 * (1 - loss))))
    const arm = changes.changes.find((change) => change.arm === 'arm')!
    assert.equal(arm.verdict, 'slower')
    assert.ok(arm.low <= 1 - loss && 1 - loss <= arm.high)
    assert.equal(isRegression(changes), true)
    assert.match(changesReport(changes), /Slower, beyond noise: arm\./)
  }
})

test('an equal run is not a regression, nor is a loss within the noise of either run', () => {
  const before = resultOf(rounds(2))
  assert.equal(verdicts(before, resultOf(rounds(2)))['arm'], 'no difference')
  const noisy = resultOf(rounds(1.92), { floor: { perSecond: 1.05, perCpuSecond: 1.05 } })
  const changes = compareResults(before, noisy)
  assert.equal(isRegression(changes), false)
  assert.match(
    changesReport(changes),
    /Nothing is slower beyond noise; whether arm changed is unclear|Nothing is slower/,
  )
})

test('a gain is faster, and not a regression', () => {
  const changes = compareResults(resultOf(rounds(2)), resultOf(rounds(2.4)))
  assert.equal(changes.changes.find(({ arm }) => arm === 'arm')!.verdict, 'faster')
  assert.equal(isRegression(changes), false)
})

test('half the speed of the machine changes the absolute value of the baseline, and no ratio', () => {
  const found = verdicts(resultOf(rounds(2)), resultOf(rounds(2, 0.5)))
  assert.deepEqual(found, { baseline: 'slower', arm: 'no difference' })
})

test('runs on two machines are compared by ratios only', () => {
  const before = resultOf(rounds(2))
  const after = resultOf(rounds(2, 0.5), { machine: { ...before.machine, cpu: 'another processor' } })
  const changes = compareResults(before, after)
  assert.deepEqual(
    changes.changes.map(({ arm, against }) => [arm, against]),
    [['arm', 'baseline']],
  )
  assert.match(changesReport(changes), /The machines differ/)
})

test('a longer latency at a fixed rate is slower, and reported as after over before', () => {
  const p99 = (ratio: number): Record<string, Recorded> => {
    const { baseline, arm } = rounds(1)
    const jitter = baseline.perSecond.map((value) => value / 10_000)
    return {
      baseline: { ...baseline, p99: jitter.map((value) => 8 * value) },
      arm: { ...arm, p99: jitter.map((value) => 8 * ratio * value) },
    }
  }
  const changes = compareResults(resultOf(p99(1)), resultOf(p99(1.5)))
  const latency = changes.changes.find(({ metric }) => metric === 'p99')!
  assert.equal(latency.verdict, 'slower')
  assert.ok(Math.abs(latency.ratio - 1.5) < 0.01 && latency.low <= 1.5 && 1.5 <= latency.high)
})

test('an arm that became invalid is a regression, with the reason', () => {
  const { baseline, arm } = rounds(2)
  const changes = compareResults(
    resultOf({ baseline, arm }),
    resultOf({ baseline, arm: { ...arm, invalid: 'it crashed' } }),
  )
  assert.equal(isRegression(changes), true)
  assert.match(changesReport(changes), /arm was valid in the first run and is not in the second: it crashed/)
})

test('arms of one run only are listed, and different scenarios are refused', () => {
  const { baseline, arm } = rounds(2)
  const changes = compareResults(resultOf({ baseline, gone: arm }), resultOf({ baseline, fresh: arm }))
  assert.deepEqual(changes.notes, ['Only in the second run: fresh.'])
  assert.deepEqual(changes.broken, [{ arm: 'gone', because: 'it is missing in the second run' }])
  assert.throws(
    () => compareResults(resultOf({ baseline }), resultOf({ baseline }, { scenario: 'other' })),
    /the scenarios differ: fixture in the first file, other in the second/,
  )
})

test('a missing arm is a regression only if it was valid before', () => {
  const { baseline, arm } = rounds(2)
  const without = resultOf({ baseline })
  assert.equal(isRegression(compareResults(resultOf({ baseline, arm }), without)), true)
  const changes = compareResults(resultOf({ baseline, arm: { ...arm, invalid: 'it crashed' } }), without)
  assert.deepEqual([isRegression(changes), changes.notes], [false, ['Only in the first run: arm.']])
})

test('a file that is not a result is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
  try {
    const file = join(folder, 'some.json')
    await writeFile(file, '{"version":1}')
    await assert.rejects(readResult(file), /some\.json is not a result of busbar bench/)
    await writeFile(file, 'no json')
    await assert.rejects(readResult(file), /some\.json is not JSON/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
