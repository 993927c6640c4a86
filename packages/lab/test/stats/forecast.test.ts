import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOfRound } from '../../src/protocol/plan.ts'
import { isEnough, isWithin, secondsNeeded } from '../../src/stats/forecast.ts'
import { judge, type Ratio } from '../../src/stats/verdict.ts'

const rules = { confidence: 0.99, matters: 0.1, floor: 1 }

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** A round of two arms, each with noise of so many per cent. */
function roundOf(random: () => number, noise: number): readonly [number, number] {
  return [Math.exp((noise / 100) * normal(random)), Math.exp((noise / 100) * normal(random))]
}

/** As a session does: at least 6 rounds, and more until the intervals are narrow. */
function stopped(random: () => number, noise: number): Ratio {
  const pairs = Array.from({ length: 5 }, () => roundOf(random, noise))
  let before = judge(pairs, rules)
  for (;;) {
    pairs.push(roundOf(random, noise))
    const now = judge(pairs, rules)
    if (pairs.length === 40 || isEnough([now], [before], 0.1)) return now
    before = now
  }
}

// Seeded, so the counts are the same in each run. With a true 1 %, 1000 series give more than 2 %
// once in 300 times.
for (const noise of [5, 10])
  test(`a run that stops when its intervals are narrow claims at most one in a hundred (noise of ${noise} %)`, () => {
    const random = randomOfRound(noise, 0)
    const series = Array.from({ length: 1000 }, () => stopped(random, noise))
    const claims = series.filter(({ verdict }) => verdict === 'faster' || verdict === 'slower').length
    assert.ok(claims <= 20, `${claims} of 1000`)
    assert.ok(series.filter((each) => isWithin(each, 0.1)).length > 950)
  })

test('a wide interval, or none, is not enough', () => {
  const [narrow, wide] = [
    { low: 0.95, high: 1.05 },
    { low: 0.8, high: 1.2 },
  ]
  assert.equal(isEnough([narrow], [narrow], 0.1), true)
  assert.equal(isEnough([narrow], [wide], 0.1), false)
  assert.equal(isEnough([narrow, wide], [narrow, narrow], 0.1), false)
  assert.equal(isEnough([], [], 0.1), false)
})

test('the forecast of a run is near what it takes', () => {
  const random = randomOfRound(1, 0)
  const noise = 30
  const pairs = Array.from({ length: 12 }, () => roundOf(random, noise))
  const needed = secondsNeeded(judge(pairs, rules), { rounds: 12, seconds: 120 }, 0.1)!
  while (!isWithin(judge(pairs, rules), 0.1)) pairs.push(roundOf(random, noise))
  const took = pairs.length * 10
  assert.ok(needed > took / 3 && needed < took * 3, `${needed} s and ${took} s`)
})

test('the forecast of an interval with more degrees of freedom than rounds knows that it has them', () => {
  const found = { low: 1 / 1.3, high: 1.3, confidence: 0.99 }
  const spent = { rounds: 4, seconds: 100 }
  const [rounds, pairs] = [secondsNeeded(found, spent, 0.1), secondsNeeded({ ...found, freedom: 80 }, spent, 0.1)]
  // With three degrees a large part of the width is that of the quantile, which shrinks fast.
  assert.ok(rounds! < pairs!, `${rounds} s and ${pairs} s`)
  // Twice as narrow takes four times as long, if the quantile stays.
  assert.ok(Math.abs(pairs! / 100 - (Math.log(1.3) / Math.log(1.1)) ** 2) < 1, `${pairs} s`)
})

test('two rounds of many pulses foresee how long it takes, without what only few rounds allow for', () => {
  const found = { low: 1 / 1.35, high: 1.35, confidence: 0.99 }
  const [two, four] = [
    secondsNeeded({ ...found, freedom: 46 }, { rounds: 2, seconds: 200 }, 0.1)!,
    secondsNeeded({ ...found, freedom: 92 }, { rounds: 4, seconds: 400 }, 0.1)!,
  ]
  assert.ok(two >= 400 && two < four, `${two} s and ${four} s`)
})

test('nothing is foreseen from two rounds, or without end', () => {
  const spent = { rounds: 2, seconds: 20 }
  assert.equal(secondsNeeded({ low: 0.5, high: 2, confidence: 0.99 }, spent, 0.1), undefined)
  assert.equal(secondsNeeded({ low: 0, high: Infinity, confidence: 0.99 }, { ...spent, rounds: 6 }, 0.1), undefined)
  assert.equal(secondsNeeded({ low: 1e-9, high: 1e9, confidence: 0.99 }, { ...spent, rounds: 6 }, 0.1), undefined)
})
