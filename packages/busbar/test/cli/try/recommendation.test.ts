import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Figures, Tried } from '../../../src/cli/commands/try/lab.ts'
import { recommend } from '../../../src/cli/commands/try/recommendation.ts'

type Verdict = NonNullable<Figures['comparison']>['verdict']

/** Arms with a rate and a verdict against the first. */
function tried(arms: Readonly<Record<string, readonly [rate: number, verdict?: Verdict]>>): Tried {
  return {
    notes: [],
    generator: 'busbar-load',
    measured: 1,
    foundPorts: {},
    arms: Object.entries(arms).map(([name, [perCpuSecond, verdict]]) => ({
      name,
      title: name,
      problem: null,
      answers: [],
      figures: {
        perCpuSecond,
        perSecond: perCpuSecond,
        p99: null,
        memory: null,
        comparison: verdict === undefined ? null : { ratio: 1, low: 0.5, high: 2, confidence: 0.99, verdict },
        secondsNeeded: null,
        invalidBecause: [],
      },
    })),
  }
}

test('the fastest placement is recommended only if it is faster than today', () => {
  const { placement, why } = recommend(
    tried({ today: [100], process: [90, 'unclear'], thread: [150, 'faster'], shared: [180, 'faster'] }),
  )
  assert.equal(placement, 'shared')
  assert.match(why, /shared is faster than today/)
})

test('where nothing is clear the safest placement is recommended, and the page says so', () => {
  const { placement, why } = recommend(
    tried({ today: [100], process: [90, 'unclear'], thread: [150, 'unclear'], shared: [180, 'unclear'] }),
  )
  assert.equal(placement, 'process')
  assert.match(why, /unclear whether any placement is faster than today/)
})

test('of placements that are not faster, one that is not slower is recommended', () => {
  const { placement, why } = recommend(
    tried({ today: [100], process: [50, 'slower'], thread: [100, 'no difference'], shared: [101, 'no difference'] }),
  )
  assert.equal(placement, 'thread')
  assert.match(why, /No placement is faster than today/)
})

test('without today the placements are compared with the first', () => {
  assert.equal(recommend(tried({ process: [100], thread: [90, 'unclear'] })).placement, 'process')
  assert.equal(recommend(tried({ process: [100], thread: [150, 'faster'] })).placement, 'thread')
  assert.equal(recommend({ ...tried({}), arms: [] }).placement, undefined)
})

test('the page tells that nothing was measured from figures that do not count', () => {
  const measured = tried({ today: [100], process: [150, 'faster'] })
  const invalid = measured.arms.map((arm) => ({
    ...arm,
    figures: arm.figures && { ...arm.figures, invalidBecause: ['wrong answers'] },
  }))
  const unmeasured = measured.arms.map((arm) => ({ ...arm, figures: null }))
  assert.match(recommend({ ...measured, arms: invalid }).why, /^No placement with the same answers has figures/)
  assert.match(recommend({ ...measured, arms: unmeasured }).why, /^Nothing was measured/)
})
