import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quick } from '../../src/protocol/plan.ts'
import { timesOf } from '../../src/try-app/times.ts'

const orders = ['in turns', 'beside today', 'one at a time'] as const
const budgets = [5, 20, 60, 90, 180, 360, 3600]

test('five copies of an app warm up for up to 20 s by the default budget', () => {
  assert.equal(timesOf({ budgetMs: 180_000, copies: 5, order: 'beside today' }).extraWarmUpMs, 18_000)
})

test('a longer warm-up leaves time for all pulses of a round, and two rounds for the limit', () => {
  for (const order of ['in turns', 'beside today'] as const)
    for (const seconds of budgets) {
      const copies = 5
      const { extraWarmUpMs, roundMs, limitMs } = timesOf({ budgetMs: seconds * 1000, copies, order })
      const latencyMs = order === 'in turns' ? 2 * quick.sliceMs : 0
      const neededMs = copies * (quick.warmUpMs + extraWarmUpMs + quick.pulses * quick.pulseMs)
      if (extraWarmUpMs > 0) assert.ok(neededMs < roundMs, `${order}, ${seconds} s`)
      // A round ends some seconds after its pulses.
      if (seconds >= 60) assert.ok(2 * (roundMs + copies * latencyMs + 3000) <= limitMs, `${order}, ${seconds} s`)
    }
})

test('arms that run one at a time have the rounds of a quick run, since their intervals need them', () => {
  for (const seconds of budgets) {
    const { extraWarmUpMs } = timesOf({ budgetMs: seconds * 1000, copies: 5, order: 'one at a time' })
    const roundMs = 5 * (quick.warmUpMs + extraWarmUpMs + 2 * quick.sliceMs)
    if (extraWarmUpMs > 0) assert.ok(roundMs * quick.rounds <= seconds * 1000, `${seconds} s`)
  }
})

test('a small budget has no longer warm-up, and one more second never has a shorter one', () => {
  for (const order of orders) {
    const extra = budgets.map((seconds) => timesOf({ budgetMs: seconds * 1000, copies: 5, order }).extraWarmUpMs)
    assert.equal(extra[0], 0)
    assert.deepEqual(
      extra,
      extra.toSorted((one, other) => one - other),
    )
  }
})
