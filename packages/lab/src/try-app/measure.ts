import { bench } from '../bench.ts'
import { findEngine } from '../engine/load.ts'
import type { Timing } from '../protocol/plan.ts'
import type { Progress } from '../protocol/session.ts'
import { reasonText } from '../report/reason.ts'
import type { ArmResult, Result } from '../result.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { secondsNeeded } from '../stats/forecast.ts'
import { toLoad } from './replay.ts'
import type { Schedule } from './schedule.ts'
import { limit, timesOf } from './times.ts'
import type { Figures, TriedApp, TriedRequest } from './tried-app.ts'

export interface MeasureOptions {
  readonly app: TriedApp
  /** The first arm is the baseline. */
  readonly schedule: Schedule
  /** To the entry. */
  readonly requests: readonly [TriedRequest, ...TriedRequest[]]
  readonly timing: Partial<Timing>
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** Rather a less certain answer than a late one. */
const waitShare = 0.2
/** Share of the baseline's capacity at which latency is measured. */
const latencyShare = 0.7

export interface Measured {
  /** By the name of the arm. Empty if there was no time. */
  readonly figures: ReadonlyMap<string, Figures>
  /** Sentences that a reader must know. */
  readonly notes: readonly string[]
}

/** Measures arms whose answers are known to be the same. */
export async function measure(options: MeasureOptions): Promise<Measured> {
  const { app, requests, signal, onProgress } = options
  const { arms, order, control } = options.schedule
  const { budgetMs } = app
  const [first, ...more] = requests
  const scenario: Scenario = {
    name: `try ${app.name}`,
    question: `${app.name}: what would Busbar change?`,
    baseline: arms[0]!.name,
    arms,
    control,
    quick: { arms: arms.map(({ name }) => name) },
    connections: [app.connections],
    workers: [1],
    request: () => toLoad(first),
    work: {
      requests: [toLoad(first), ...more.map(toLoad)],
      weights: requests.map(({ weight }) => weight),
    },
  }
  const result = await bench(scenario, {
    quick: true,
    command: 'busbar try',
    budgetMs,
    // Else it would take too long: another start and warm-up for each visit, or a longer round.
    openShares: order === 'in turns' ? [latencyShare] : [],
    timing: {
      waitShare,
      ...timesOf({ budgetMs, copies: arms.length + 1, order }),
      ...options.timing,
    },
    oneAtATime: order === 'one at a time',
    signal,
    onProgress,
  })
  if (result.rounds === 0) return { figures: new Map(), notes: signal.aborted ? [] : [tooShort(budgetMs)] }
  const measured = result.arms.filter(({ control }) => !control)
  const figures = new Map(measured.map((arm) => [arm.name, figuresOf(arm, result)]))
  const cold = measured.filter(({ coldRounds }) => coldRounds > result.rounds / 2).map(({ title }) => `“${title}”`)
  return {
    figures,
    notes: [...fewRoundsNotes(result.rounds, [...figures.values()]), ...(cold.length > 0 ? [coldText(cold)] : [])],
  }
}

/** Sentences on what one or two rounds do not show. */
export function fewRoundsNotes(
  rounds: number,
  figures: readonly Pick<Figures, 'comparison' | 'secondsNeeded'>[],
): string[] {
  if (rounds === 1)
    return [
      'There was time for one round only, so nothing is compared, and each figure may be far off. Use a longer --budget.',
    ]
  // Else the page has the budget with which it would probably be clear.
  const isOpen = figures.some((each) => each.comparison?.verdict === 'unclear' && each.secondsNeeded === null)
  return rounds === 2 && isOpen
    ? ['Two rounds that differ by so much do not show how long a clear result would take. Use a longer --budget.']
    : []
}

function coldText(titles: readonly string[]): string {
  return `V8 may not have compiled all of the code yet when these were measured, so they may be faster: ${titles.join(', ')}.`
}

function tooShort(budgetMs: number): string {
  const seconds = Math.round((budgetMs * limit) / 1000)
  return `Not measured: to start, warm up and measure every arm once takes more than ${seconds} s here. Use a longer --budget.`
}

export function generatorKind(): 'busbar-load' | 'autocannon' {
  return findEngine().kind
}

function figuresOf(arm: ArmResult, result: Result): Figures {
  const { comparisons, smallestDifference } = result
  const found = comparisons.find((each) => each.arm === arm.name && each.metric === 'perCpuSecond')
  const open = arm.open.find(({ overloaded, generatorLate }) => !overloaded && !generatorLate)
  return {
    perCpuSecond: arm.throughput.perCpuSecond,
    perSecond: arm.throughput.perSecond,
    p99: (open?.latency ?? arm.latency)?.p99 ?? null,
    memory: arm.server.pss,
    comparison: found === undefined ? null : pick(found),
    secondsNeeded: found?.verdict === 'unclear' ? (secondsNeeded(found, result, smallestDifference) ?? null) : null,
    invalidBecause: arm.invalidBecause.map(reasonText),
  }
}

function pick({ ratio, low, high, confidence, verdict }: NonNullable<Figures['comparison']>): Figures['comparison'] {
  return { ratio, low, high, confidence, verdict }
}
