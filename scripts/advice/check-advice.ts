/**
 * Checks advice against measurements: `node scripts/advice/check-advice.ts [--from 1] [--apps 20]
 * [--from-shared] [--rounds 24] [--json <file>]`
 *
 * Each seed makes an app, whose services run in a thread each (`--from-shared`: all in the shared
 * worker). Busbar advises. Then all placements run side by side and get the load in turns, half a
 * second each, so that whatever else the machine does disturbs all of them alike. The advice is
 * right if its placement answers the most calls, or at least 0.9 of the best other one. An app
 * where this ratio is known less exactly than ± 10 % does not count, and the next seed takes its
 * place. Build first. Ends with 1 if less than nine of ten are right.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judge } from '../../packages/lab/src/stats/verdict.ts'
import { type GeneratedApp, generateApp, type Placement, placementsOf, titleOf } from './generated-app.ts'
import { loaded, rateOf } from './load.ts'
import { PlacedApp, type Suggestion } from './placed-app.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    apps: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '24' },
    'from-shared': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const [from, apps, maxRounds] = [values.from, values.apps, values.rounds].map(Number) as [number, number, number]
/** Of the interval, and of the distance to the best. */
const tolerance = 0.1
const minRounds = 8
/** Milliseconds of one turn. */
const turn = 500
/** Seconds that advice watches the app. */
const watched = 5
/** Seeds beyond the wanted number of apps. */
const maxReplaced = apps

interface Arm {
  readonly app: PlacedApp
  /** Calls per second, of each round. */
  readonly rates: number[]
}

interface Verdict {
  readonly seed: number
  readonly advised: string
  readonly text: string | undefined
  readonly bestOther: string
  /** The rate of the advised placement against that of the best other one. */
  readonly ratio: number
  /** To either side, relative to the ratio, with 95 % confidence. */
  readonly interval: number
  readonly counts: boolean
  readonly rounds: number
  readonly rates: Readonly<Record<string, number>>
}

const cache = mkdtempSync(join(tmpdir(), 'busbar-advice-cache-'))
process.once('exit', () => rmSync(cache, { recursive: true, force: true }))
let isCalibrated = false
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
if (right < counted.length * 0.9 || counted.length < apps) process.exitCode = 1

async function check(app: GeneratedApp): Promise<Verdict> {
  await using running = new AsyncDisposableStack()
  const start = async (placement: Placement): Promise<Arm> => ({
    app: running.use(await PlacedApp.start(app, placement, cache)),
    rates: [],
  })
  const placements = placementsOf(app)
  const first = await start(values['from-shared'] ? placements.at(-1)! : placements[0]!)
  if (!isCalibrated) {
    const { others } = await first.app.calibrate()
    console.log(`Other processes used ${others.toFixed(2)} processors while the costs of calls were measured.`)
    isCalibrated = true
  }
  const suggestion = await adviceOf(first.app)
  const moves = suggestion?.moves.map(({ service, run }) => [service, run]) ?? []
  const advised: Placement = { ...first.app.placement, ...Object.fromEntries(moves) }
  const wanted = new Map([...placements, advised].map((placement) => [titleOf(placement), placement]))
  wanted.delete(titleOf(first.app.placement))
  const arms = [first]
  for (const placement of wanted.values()) arms.push(await start(placement))
  // Optimised code first.
  for (const arm of arms) await rateOf(arm.app.url, 1000)
  const chosen = arms.find((arm) => titleOf(arm.app.placement) === titleOf(advised))!
  for (let round = 0; round < maxRounds; round++) {
    if (round >= minRounds && round % 4 === 0 && compared(chosen, arms).interval < tolerance) break
    for (const arm of round % 2 === 0 ? arms : arms.toReversed()) arm.rates.push(await rateOf(arm.app.url, turn))
  }
  return verdictOf(app.seed, suggestion, chosen, arms)
}

async function adviceOf(app: PlacedApp): Promise<Suggestion | undefined> {
  await rateOf(app.url, 2000)
  return await loaded(app.url, app.advice(watched))
}

function compared(chosen: Arm, arms: readonly Arm[]): { other: Arm; ratio: number; interval: number } {
  const [other] = arms.filter((arm) => arm !== chosen).toSorted((one, two) => mean(two.rates) - mean(one.rates))
  const pairs = chosen.rates.map((rate, round): [number, number] => [rate, other!.rates[round]!])
  const { ratio, high } = judge(pairs, { confidence: 0.95, matters: tolerance, floor: 1 })
  return { other: other!, ratio, interval: high / ratio - 1 }
}

function verdictOf(seed: number, suggestion: Suggestion | undefined, chosen: Arm, arms: readonly Arm[]): Verdict {
  const { other, ratio, interval } = compared(chosen, arms)
  return {
    seed,
    advised: titleOf(chosen.app.placement),
    text: suggestion?.text,
    bestOther: titleOf(other.app.placement),
    ratio,
    interval,
    counts: interval <= tolerance,
    rounds: chosen.rates.length,
    rates: Object.fromEntries(arms.map(({ app, rates }) => [titleOf(app.placement), Math.round(mean(rates))])),
  }
}

function lineOf({ seed, advised, bestOther, ratio, interval, counts, rounds, rates }: Verdict): string {
  const verdict = !counts ? 'does not count' : ratio >= 1 - tolerance ? 'right' : 'WRONG'
  return `seed ${seed}: advised ${advised}, ${ratio.toFixed(3)} ± ${(interval * 100).toFixed(0)} % of ${bestOther} (${rounds} rounds): ${verdict} ${JSON.stringify(rates)}`
}

/** Geometric, as the ratios are. */
function mean(list: readonly number[]): number {
  return Math.exp(list.reduce((sum, one) => sum + Math.log(one), 0) / list.length)
}
