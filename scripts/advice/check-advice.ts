/**
 * Checks advice against measurements:
 * `node scripts/advice/check-advice.ts [--from 1] [--apps 20] [--rounds 3] [--seconds 2] [--json <file>]`
 *
 * Each seed makes an app, whose services run in a thread each. Busbar advises; then all placements
 * are measured in turns, by the calls per second of eight clients that wait for their answers. The
 * advice is right if its placement is the best, or within 10 % of it. An app with an interval wider
 * than 10 % does not count, and the next seed takes its place. Build first. Ends with 1 if less
 * than nine of ten are right.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AdvisedApp } from './advised-app.ts'
import { type GeneratedApp, generateApp, placementsOf } from './generated-app.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    apps: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string' },
  },
})
const [from, apps, rounds, seconds] = [values.from, values.apps, values.rounds, values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
]
/** Of an interval, and of the distance to the best. */
const tolerance = 0.1
/** Seeds beyond the wanted number of apps. */
const maxReplaced = apps

interface Measured {
  readonly shared: readonly string[]
  /** Calls per second, of each round. */
  readonly rates: number[]
}

interface Verdict {
  readonly seed: number
  readonly advised: readonly string[]
  readonly best: readonly string[]
  /** The rate of the advised placement against the best one. */
  readonly ratio: number
  /** The widest interval, to either side, relative to its mean. */
  readonly interval: number
  readonly counts: boolean
  readonly rates: Readonly<Record<string, number>>
}

const verdicts: Verdict[] = []
for (let seed = from; seed < from + apps + maxReplaced; seed++) {
  if (verdicts.filter(({ counts }) => counts).length >= apps) break
  const verdict = await check(generateApp(seed))
  verdicts.push(verdict)
  console.log(lineOf(verdict))
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(verdicts, undefined, 2))
}
const counted = verdicts.filter(({ counts }) => counts)
const right = counted.filter(({ ratio }) => ratio >= 1 - tolerance).length
console.log(`${right} of ${counted.length} right; ${verdicts.length - counted.length} do not count`)
if (right < counted.length * 0.9 || counted.length === 0) process.exitCode = 1

async function check(app: GeneratedApp): Promise<Verdict> {
  await using running = await AdvisedApp.start(app)
  await sleep(1500)
  const advised = await running.advice(4)
  const measured = placementsOf(app).map((shared): Measured => ({ shared, rates: [] }))
  for (let round = 0; round < rounds; round++)
    for (const one of round % 2 === 0 ? measured : measured.toReversed()) {
      await running.place(one.shared)
      await sleep(1000)
      one.rates.push(await running.rate(seconds))
    }
  return verdictOf(app.seed, advised, measured)
}

function verdictOf(seed: number, advised: readonly string[], measured: readonly Measured[]): Verdict {
  const [best] = measured.toSorted((one, other) => mean(other.rates) - mean(one.rates))
  const chosen = measured.find(({ shared }) => keyOf(shared) === keyOf(advised))!
  const interval = Math.max(...[best!, chosen].map(({ rates }) => halfWidth(rates) / mean(rates)))
  return {
    seed,
    advised,
    best: best!.shared,
    ratio: mean(chosen.rates) / mean(best!.rates),
    interval,
    counts: interval <= tolerance,
    rates: Object.fromEntries(measured.map(({ shared, rates }) => [keyOf(shared), Math.round(mean(rates))])),
  }
}

function lineOf({ seed, advised, best, ratio, interval, counts, rates }: Verdict): string {
  const verdict = !counts ? 'does not count' : ratio >= 1 - tolerance ? 'right' : 'WRONG'
  return `seed ${seed}: advised ${keyOf(advised)}, best ${keyOf(best)}, ratio ${ratio.toFixed(3)}, interval ±${(interval * 100).toFixed(0)} %: ${verdict} ${JSON.stringify(rates)}`
}

function keyOf(shared: readonly string[]): string {
  return shared.length === 0 ? 'apart' : [...shared].sort().join('+')
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, one) => sum + one, 0) / list.length
}

/** Half of a 95 % interval of the mean, by Student's t for the usual numbers of rounds. */
function halfWidth(list: readonly number[]): number {
  const t = [Infinity, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31][list.length - 1] ?? 2
  const variance = list.reduce((sum, one) => sum + (one - mean(list)) ** 2, 0) / Math.max(1, list.length - 1)
  return t * Math.sqrt(variance / list.length)
}
