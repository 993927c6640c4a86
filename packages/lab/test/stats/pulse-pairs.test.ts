/** Simulates quick runs on noisy machines: pulses in turns, new starts in each round. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quick } from '../../src/protocol/plan.ts'
import { isEnough, isWithin, secondsNeeded } from '../../src/stats/forecast.ts'
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
const series = 2500
const rules: Rules = { confidence: 0.99, matters: 0.1, floor: 1 }

/** Of two arms. `effect`: the true ratio. */
class SimulatedRun {
  readonly #machine: Machine
  readonly #effect: number
  readonly #random: () => number
  readonly #pairs: [number, number][] = []
  readonly #logs: number[][] = []
  #inWave = false
  #turn = 0

  constructor(machine: Machine, effect: number, random: () => number) {
    this.#machine = machine
    this.#effect = effect
    this.#random = random
  }

  addRounds(count: number): this {
    for (let round = 0; round < count; round++) this.#addRound()
    return this
  }

  judge(): Ratio {
    return judgeAll([this.#pairs], rules, undefined, [this.#logs])[0]!
  }

  #addRound(): void {
    const { start } = this.#machine
    const starts = [start * normal(this.#random), start * normal(this.#random)] as const
    const rates = Array.from({ length: quick.pulses }, () => this.#nextTurn(starts))
    const mean = (arm: 0 | 1): number => rates.reduce((sum, rate) => sum + rate[arm], 0) / rates.length
    this.#pairs.push([mean(0), mean(1)])
    this.#logs.push(rates.map(([arm, baseline]) => Math.log(arm / baseline)))
  }

  #nextTurn(starts: readonly [number, number]): readonly [number, number] {
    this.#turn++
    return [this.#rate(starts[0]) * this.#effect, this.#rate(starts[1])]
  }

  #rate(start: number): number {
    const { pulse, wave, drift } = this.#machine
    // A wave may begin or end between the two pulses of a turn.
    if (this.#random() < 0.05) this.#inWave = !this.#inWave
    const shared = (this.#inWave ? -wave : 0) - drift * this.#turn
    const noise = pulse * normal(this.#random) * (this.#inWave ? 1.5 : 1)
    return Math.exp(start + shared + noise)
  }
}

function runsOf(machine: Machine, rounds: number, effect: number): Ratio[] {
  const random = randomFrom(rounds * 1000 + machine.pulse * 100)
  return Array.from({ length: series }, () => new SimulatedRun(machine, effect, random).addRounds(rounds).judge())
}

/** As a quick run of so many rounds at most: it stops when two intervals in a row are narrow. */
function stoppedRun(machine: Machine, maxRounds: number, random: () => number): Ratio {
  const run = new SimulatedRun(machine, 1, random).addRounds(quick.rounds - 1)
  let before = run.judge()
  for (let rounds = quick.rounds; ; rounds++) {
    const now = run.addRounds(1).judge()
    if (rounds === maxRounds || isEnough([now], [before], quick.enough)) return now
    before = now
  }
}

const isClaim = ({ verdict }: Ratio): boolean => verdict === 'faster' || verdict === 'slower'
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

for (const rounds of [2, 3, 4, 5, 8])
  describe(`${rounds} rounds of pulses`, () => {
    for (const [name, machine] of Object.entries(machines))
      test(`${name}: at most one in a hundred false claims, and the interval covers the truth`, (context) => {
        const found = runsOf(machine, rounds, 1)
        const share = found.filter(isClaim).length / series
        const widths = found.map(({ low, high }) => Math.sqrt(high / low) - 1).toSorted((one, other) => one - other)
        context.diagnostic(
          `${percent(share)} false claims, half of the intervals within ± ${percent(widths[series / 2]!)}`,
        )
        // With a true 1 %, 2,500 series give more than 1.6 % once in 500 times.
        assert.ok(share <= 0.016, `${percent(share)} false claims`)
        const covers = runsOf(machine, rounds, 1.2).filter(({ low, high }) => low <= 1.2 && 1.2 <= high).length / series
        assert.ok(covers >= 0.984, `${percent(covers)} cover the truth`)
      })
  })

describe('a run that stops when its intervals are narrow, after eight rounds at most', () => {
  for (const [name, machine] of Object.entries(machines))
    test(`${name}: at most one in a hundred false claims`, (context) => {
      const random = randomFrom(7000 + machine.pulse * 100)
      const share = Array.from({ length: series }, () => stoppedRun(machine, 8, random)).filter(isClaim).length / series
      context.diagnostic(`${percent(share)} false claims`)
      assert.ok(share <= 0.016, `${percent(share)} false claims`)
    })
})

test('two arms are within 10 % after six rounds in waves of steal, more often than not', () => {
  const found = runsOf(machines['waves of steal']!, 6, 1)
  const narrow = found.filter((each) => isWithin(each, quick.enough)).length / series
  assert.ok(narrow > 0.5, `${percent(narrow)} are narrow`)
})

test('the forecast of a run in pulses is near what it takes', () => {
  const run = new SimulatedRun(machines['pulses that vary by 25 %']!, 1, randomFrom(3)).addRounds(5)
  const needed = secondsNeeded(run.judge(), { rounds: 5, seconds: 5 }, quick.enough)!
  let rounds = 5
  for (; !isWithin(run.judge(), quick.enough); rounds++) run.addRounds(1)
  assert.ok(rounds > 5, 'it was narrow already')
  assert.ok(needed > rounds / 3 && needed < rounds * 3, `${needed} rounds were foreseen, it took ${rounds}`)
})
