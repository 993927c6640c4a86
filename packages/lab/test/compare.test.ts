import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compareResults, isRegression, readResult } from '../src/compare.ts'
import { changesReport } from '../src/report/changes.ts'
import { resultOf, type Recorded } from './support/result.ts'

/** Twelve rounds of a machine that goes up and down by a tenth, and an arm that is so many times its baseline. */
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

test('an arm that lost 5, 8 or 20 % against its baseline is a regression, and the interval holds by how much', () => {
  const before = resultOf(rounds(2))
  for (const loss of [0.05, 0.08, 0.2]) {
    const changes = compareResults(before, resultOf(rounds(2 * (1 - loss))))
    const arm = changes.changes.find((change) => change.arm === 'arm')!
    assert.equal(arm.verdict, 'slower')
    assert.ok(arm.low <= 1 - loss && 1 - loss <= arm.high)
    assert.equal(isRegression(changes), true)
    assert.match(changesReport(changes), /Slower than before, beyond noise: arm\./)
  }
})

test('the same again is none, nor is a loss within the noise of either session', () => {
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

test('a gain is faster, and no regression', () => {
  const changes = compareResults(resultOf(rounds(2)), resultOf(rounds(2.4)))
  assert.equal(changes.changes.find(({ arm }) => arm === 'arm')!.verdict, 'faster')
  assert.equal(isRegression(changes), false)
})

test('a machine of half the speed changes the baseline by itself, and no ratio', () => {
  const found = verdicts(resultOf(rounds(2)), resultOf(rounds(2, 0.5)))
  assert.deepEqual(found, { baseline: 'slower', arm: 'no difference' })
})

test('of two different machines only ratios are compared', () => {
  const before = resultOf(rounds(2))
  const after = resultOf(rounds(2, 0.5), { machine: { ...before.machine, cpu: 'another processor' } })
  const changes = compareResults(before, after)
  assert.deepEqual(
    changes.changes.map(({ arm, against }) => [arm, against]),
    [['arm', 'baseline']],
  )
  assert.match(changesReport(changes), /two machines/)
})

test('longer latency at a fixed rate is slower, told as now over then', () => {
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

test('an arm that counted and does not any more is a regression, with the reason', () => {
  const { baseline, arm } = rounds(2)
  const changes = compareResults(
    resultOf({ baseline, arm }),
    resultOf({ baseline, arm: { ...arm, invalid: 'it crashed' } }),
  )
  assert.equal(isRegression(changes), true)
  assert.match(changesReport(changes), /arm counted before and does not now: it crashed/)
})

test('arms that are in one run only are named, and another scenario is refused', () => {
  const { baseline, arm } = rounds(2)
  const changes = compareResults(resultOf({ baseline, gone: arm }), resultOf({ baseline, fresh: arm }))
  assert.deepEqual(changes.notes, ['Only in the second: fresh.'])
  assert.deepEqual(changes.broken, [{ arm: 'gone', because: 'it is missing in the second' }])
  assert.throws(
    () => compareResults(resultOf({ baseline }), resultOf({ baseline }, { scenario: 'other' })),
    /the first is of fixture, the second of other/,
  )
})

test('an arm that is missing is a regression only if it counted before', () => {
  const { baseline, arm } = rounds(2)
  const without = resultOf({ baseline })
  assert.equal(isRegression(compareResults(resultOf({ baseline, arm }), without)), true)
  const changes = compareResults(resultOf({ baseline, arm: { ...arm, invalid: 'it crashed' } }), without)
  assert.deepEqual([isRegression(changes), changes.notes], [false, ['Only in the first: arm.']])
})

test('a file that is no result is refused with a sentence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
  try {
    const file = join(folder, 'some.json')
    await writeFile(file, '{"version":1}')
    await assert.rejects(readResult(file), /some\.json is no result of busbar bench/)
    await writeFile(file, 'no json')
    await assert.rejects(readResult(file), /some\.json is not JSON/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
