/** Simulates quick runs on noisy machines: pulses in turns, new starts in each round. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { judgeAll, type Ratio, type Rules } from '../../src/stats/verdict.ts'
import { normal, randomFrom } from '../support/random.ts'

interface Machine {
  /** Deviation of one pulse, as a share. */
  readonly pulse: number
  /** Deviation of one start of an arm. */
  readonly start: number
  /** How much slower it is in a wave of steal. Waves last some ten turns. */
  readonly wave: number
  /** By turn. */
  readonly drift: number
}

const machines: Readonly<Record<string, Machine>> = {
  'a quiet machine': { pulse: 0.05, start: 0.01, wave: 0, drift: 0 },
  'pulses that vary by 25 %': { pulse: 0.25, start: 0.01, wave: 0, drift: 0 },
  'waves of steal': { pulse: 0.15, start: 0.02, wave: 0.6, drift: 0 },
  'a drift of a third': { pulse: 0.15, start: 0.02, wave: 0, drift: 0.005 },
  'starts that differ by 5 %': { pulse: 0.1, start: 0.05, wave: 0.3, drift: 0 },
  'starts that differ by 10 %, more than the noise': { pulse: 0.05, start: 0.1, wave: 0, drift: 0 },
}
const [pulses, series] = [24, 2500]
const rules: Rules = { confidence: 0.99, matters: 0.1, floor: 1 }

/** A run of two arms. `effect`: the true ratio. */
function quickRun(machine: Machine, rounds: number, effect: number, random: () => number): Ratio {
  let inWave = false
  let turn = 0
  const pairs: [number, number][] = []
  const logs: number[][] = []
  for (let round = 0; round < rounds; round++) {
    const starts = [machine.start * normal(random), machine.start * normal(random)] as const
    const rates: [number, number][] = []
    for (let pulse = 0; pulse < pulses; pulse++, turn++) {
      const pair = [0, 1].map((arm) => {
        // A wave may begin or end between the two pulses of a turn.
        if (random() < 0.05) inWave = !inWave
        const shared = (inWave ? -machine.wave : 0) - machine.drift * turn
        const noise = machine.pulse * normal(random) * (inWave ? 1.5 : 1)
        return Math.exp(starts[arm]! + shared + noise) * (arm === 0 ? effect : 1)
      })
      rates.push(pair as [number, number])
    }
    const mean = (arm: 0 | 1): number => rates.reduce((sum, rate) => sum + rate[arm], 0) / pulses
    pairs.push([mean(0), mean(1)])
    logs.push(rates.map(([arm, baseline]) => Math.log(arm / baseline)))
  }
  return judgeAll([pairs], rules, undefined, [logs])[0]!
}

function runsOf(machine: Machine, rounds: number, effect: number): Ratio[] {
  const random = randomFrom(rounds * 1000 + machine.pulse * 100)
  return Array.from({ length: series }, () => quickRun(machine, rounds, effect, random))
}

const isClaim = ({ verdict }: Ratio): boolean => verdict === 'faster' || verdict === 'slower'

for (const rounds of [4, 5, 8])
  describe(`${rounds} rounds of pulses`, () => {
    for (const [name, machine] of Object.entries(machines))
      test(`${name}: at most one in a hundred false claims, and the interval covers the truth`, (context) => {
        const found = runsOf(machine, rounds, 1)
        const share = found.filter(isClaim).length / series
        const widths = found.map(({ low, high }) => Math.sqrt(high / low) - 1).toSorted((one, other) => one - other)
        context.diagnostic(
          `${(share * 100).toFixed(2)} % false claims, half of the intervals within ± ${(widths[series / 2]! * 100).toFixed(1)} %`,
        )
        // With a true 1 %, 2,500 series give more than 1.6 % once in 500 times.
        assert.ok(share <= 0.016, `${(share * 100).toFixed(2)} % false claims`)
        const covers = runsOf(machine, rounds, 1.2).filter(({ low, high }) => low <= 1.2 && 1.2 <= high).length / series
        assert.ok(covers >= 0.984, `${(covers * 100).toFixed(2)} % cover the truth`)
      })
  })

test('two arms are within 10 % after six rounds in waves of steal, more often than not', () => {
  const found = runsOf(machines['waves of steal']!, 6, 1)
  const narrow = found.filter(({ low, high }) => Math.sqrt(high / low) <= 1.1).length / series
  assert.ok(narrow > 0.5, `${(narrow * 100).toFixed(0)} % are narrow`)
})
