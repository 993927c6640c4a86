/**
 * Whether the lab's answers hold where the truth is known: the same service measured against itself, and against copies
 * of it that do 3, 5 and 8 per cent more work per request. Each is a quick run of its own, with its own seed.
 *
 *     node packages/lab/test/proofs/live.ts same 40 [results.jsonl]
 *     node packages/lab/test/proofs/live.ts slower 10 [results.jsonl [rounds]]
 *
 * A line per run says what was claimed; the last one sums up. Minutes per run, so no part of `npm test`. With a file of
 * results the runs it holds are not made again: forty can be asked for in pieces, between other work. More rounds than a
 * quick run has make the intervals narrow enough for differences of 3 per cent.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { armProgram, type Arm } from '../../src/arm.ts'
import { bench } from '../../src/bench.ts'
import type { Comparison } from '../../src/comparison.ts'
import { exactly, program } from '../../src/scenarios/launch.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'

/** So long that what a request costs besides, some 20 µs, moves a ratio of 1.08 by less than a thousandth. */
const milliseconds = 2

const slowdowns: Readonly<Record<string, number>> = { again: 1, 'slower-3': 1.03, 'slower-5': 1.05, 'slower-8': 1.08 }

const [what = 'same', runs = '1', file, rounds] = process.argv.slice(2)
/** A round takes about 30 s. */
const longer = rounds === undefined ? {} : { rounds: Number(rounds), budgetMs: Number(rounds) * 60_000 }
const names = Object.keys(slowdowns).filter((name) => (what === 'same') === (name === 'again'))
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
  /** Requests per second of server CPU: whether it did the work shows here. */
  readonly perCpuSecond: number
  /** Requests per second of the arm over those of the baseline, as the work says. */
  readonly truth: number
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly verdict: Comparison['verdict']
  readonly holds: boolean
}

function earlierAnswers(): Answer[] {
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
  return lines.flatMap((line) => (JSON.parse(line) as { answers: Answer[] }).answers)
}

async function oneRun(seed: number): Promise<Answer[]> {
  const result = await bench(known(), { quick: true, seed, command: 'proof', ...longer })
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

/** Copies that differ are told apart by what is asked of them. */
function arm(name: string, factor: number): Arm {
  const path = what === 'same' ? '/' : `/cpu?ms=${milliseconds * factor}`
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
