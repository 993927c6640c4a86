/**
 * Checks the lab's verdicts against known differences: a service compared with itself, and with
 * copies that do 3, 5 and 8 % more work per request. Each is a quick run with its own seed.
 * `same-in-slices` measures as full runs do, in slices of 1.2 s instead of pulses.
 *
 *     node packages/lab/test/proofs/known-differences.ts same 40 [results.jsonl]
 *     node packages/lab/test/proofs/known-differences.ts same-in-slices 40 [results.jsonl]
 *     node packages/lab/test/proofs/known-differences.ts slower 10 [results.jsonl [rounds]]
 *
 * Prints a line per run, and a summary. A run takes minutes, so this is not part of `npm test`.
 * Runs in a file of results are not repeated, so that forty runs can be done in several sessions.
 * More rounds than in a quick run are needed for differences of 3 %.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { armProgram, type Arm } from '../../src/arm.ts'
import { bench } from '../../src/bench.ts'
import type { Comparison } from '../../src/stats/compare-arms.ts'
import { exactly, program } from '../../src/scenarios/launch.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'

/**
 * Long enough that the other costs of a request, about 20 µs, change a ratio of 1.08 by less than
 * 0.001.
 */
const milliseconds = 2

const slowdowns: Readonly<Record<string, number>> = { again: 1, 'slower-3': 1.03, 'slower-5': 1.05, 'slower-8': 1.08 }

const [what = 'same', runs = '1', file, rounds] = process.argv.slice(2)
/** A round takes about 30 s. */
const longer = rounds === undefined ? {} : { rounds: Number(rounds), budgetMs: Number(rounds) * 60_000 }
const isSame = what !== 'slower'
const timing = what === 'same-in-slices' ? { pulses: 0 } : {}
const names = Object.keys(slowdowns).filter((name) => isSame === (name === 'again'))
const found = earlierAnswers()
for (let run = found.length / names.length + 1; run <= Number(runs); run++) {
  const answers = await oneRun(run)
  found.push(...answers)
  const line = JSON.stringify({ run, answers })
  if (file === undefined) console.log(line)
  else appendFileSync(file, `${line}\n`)
}
console.log(summary(found))

interface Answer {
  readonly arm: string
  /** Requests per second of server CPU, which shows whether it did the work. */
  readonly perCpuSecond: number
  /** Expected ratio of requests per second to the baseline. */
  readonly truth: number
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly verdict: Comparison['verdict']
  /** Duration of the run. */
  readonly seconds: number
  readonly invalidBecause: readonly string[]
  readonly holds: boolean
}

function earlierAnswers(): Answer[] {
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
  return lines.flatMap((line) => (JSON.parse(line) as { answers: Answer[] }).answers)
}

async function oneRun(seed: number): Promise<Answer[]> {
  const began = performance.now()
  const result = await bench(known(), { quick: true, seed, command: 'proof', timing, ...longer })
  return result.comparisons
    .filter(({ decides }) => decides)
    .map(({ arm, ratio, low, high, verdict }) => {
      const truth = 1 / slowdowns[arm]!
      const { perCpuSecond } = result.arms.find(({ name }) => name === arm)!.throughput
      return {
        arm,
        perCpuSecond: perCpuSecond ?? Number.NaN,
        truth,
        ratio,
        low,
        high,
        verdict,
        seconds: Math.round((performance.now() - began) / 1000),
        invalidBecause: result.arms.flatMap(({ invalidBecause }) => invalidBecause),
        holds: low <= truth && truth <= high,
      }
    })
}

function known(): Scenario {
  return {
    name: 'known',
    question: 'Is what the lab says so?',
    baseline: 'it',
    arms: [arm('it', 1), ...names.map((name) => arm(name, slowdowns[name]!))],
    quick: { arms: ['it', ...names] },
    connections: [20],
    workers: [1],
    request: () => ({ path: '/', expect: exactly('{"hello":"world"}') }),
  }
}

/** The amount of work is in the request. */
function arm(name: string, factor: number): Arm {
  const path = isSame ? '/' : `/cpu?ms=${milliseconds * factor}`
  return {
    name,
    title: name,
    launch: (place) => program(place, path, { file: armProgram('scaling/hello.ts') }),
    translate: (request) => ({ ...request, path }),
  }
}

function summary(answers: readonly Answer[]): string {
  return names
    .map((name) => {
      const own = answers.filter(({ arm }) => arm === name)
      const count = (which: (answer: Answer) => boolean): number => own.filter(which).length
      const claims = count(({ verdict }) => verdict === 'faster' || verdict === 'slower')
      const widest = Math.max(...own.map(({ low, high }) => Math.sqrt(high / low) - 1))
      return `${name}: ${own.length} answers, ${claims} claim a difference, ${count(({ verdict }) => verdict === 'faster')} of them "faster"; ${count(({ holds }) => holds)} intervals hold the truth; the widest is ± ${(widest * 100).toFixed(1)} %`
    })
    .join('\n')
}
