/** Sentences that a reader of the tables must know. */
import { compare, decidingThroughput } from '../stats/compare-arms.ts'
import { isWithin, secondsNeeded } from '../stats/forecast.ts'
import type { Engine } from '../engine/load.ts'
import type { Timing } from '../protocol/plan.ts'
import type { Round } from '../protocol/round.ts'
import type { Cold } from '../protocol/warming.ts'
import { medianOf, type CellSummary } from '../stats/summary.ts'

export interface Noted {
  readonly engine: Engine
  readonly sharesCores: boolean
  readonly summaries: readonly CellSummary[]
  readonly rounds: readonly Round[]
  readonly timing: Timing
}

/** Cores of other programs that are worth a note. */
const busyNeighbours = 0.2

export function notesOn(found: Noted): string[] {
  return [
    ...onEngine(found),
    ...onCores(found),
    ...onNeighbours(found),
    ...onWaits(found),
    ...onWidth(found),
    ...onWarmUp(found),
    ...onRates(found),
  ]
}

function onEngine({ engine }: Noted): string[] {
  if (engine.kind === 'busbar-load') return []
  return [
    'The load engine is not built (`cargo build --release` builds it), so autocannon generated the load. It measures throughput only: all its connections share one event loop, so its latencies would be misleading.',
  ]
}

function onCores({ sharesCores, summaries }: Noted): string[] {
  if (decidingThroughput(summaries, sharesCores) === 'perSecond') return []
  const bound = summaries.filter(({ saturated, cell }) => saturated && !cell.control).map(({ cell }) => cell.name)
  const decides = 'requests per server CPU second decide'
  if (bound.length > 0)
    return [
      `The load generator was saturated with ${bound.join(', ')}, so requests per second are its limit, and ${decides}.`,
    ]
  return [`The load generator shares its cores with the servers, so ${decides}, which it does not affect.`]
}

function onNeighbours({ summaries }: Noted): string[] {
  const others = medianOf(summaries.map(({ otherCores }) => otherCores)) ?? 0
  if (others < busyNeighbours) return []
  return [`Other programs kept ${others.toFixed(1)} cores busy. On a quiet machine the intervals are narrower.`]
}

function onWaits({ rounds }: Noted): string[] {
  const seconds = rounds.reduce((sum, { waited }) => sum + waited, 0)
  if (seconds < 1) return []
  return [
    `Waited ${Math.round(seconds)} s in all while other guests of this machine’s host took its processors. Disturbed slices were repeated.`,
  ]
}

/** How long a run would take whose intervals are narrow enough, if this one's are not. */
function onWidth({ summaries, timing, sharesCores, rounds }: Noted): string[] {
  const wide = compare(summaries, timing, decidingThroughput(summaries, sharesCores)).filter(
    (each) => each.decides && each.verdict !== 'invalid' && !isWithin(each, timing.enough),
  )
  if (wide.length === 0) return []
  const spent = { rounds: rounds.length, seconds: rounds.reduce((sum, { seconds }) => sum + seconds, 0) }
  const needed = wide.map((each) => secondsNeeded(each, spent, timing.enough))
  const what = `for all intervals to be within ${Math.round(timing.enough * 100)} %`
  if (needed.some((seconds) => seconds === undefined)) return [`It cannot be foreseen how long it would take ${what}.`]
  const seconds = Math.ceil(Math.max(...needed.map((each) => each!)) / 60) * 60
  return [
    `On this machine, as noisy as it was, it would take about ${seconds / 60} min ${what} (\`--budget ${seconds}\`).`,
  ]
}

function onWarmUp({ summaries, rounds }: Noted): string[] {
  const inMost = (why: Cold): string =>
    summaries
      .filter(({ cold }) => cold[why] > rounds.length / 2)
      .map(({ cell }) => cell.name)
      .join(', ')
  const [few, unsteady] = [inMost('few'), inMost('unsteady')]
  return [
    ...(few === ''
      ? []
      : [`Too few responses in the longest warm-up in most rounds, so V8 may not have compiled all of it: ${few}.`]),
    ...(unsteady === '' ? [] : [`Not steady after the longest warm-up in most rounds: ${unsteady}.`]),
  ]
}

function onRates({ summaries, timing }: Noted): string[] {
  return timing.openShares.flatMap((share) => {
    const overloaded = summaries.filter(({ open }) => open.some((each) => each.share === share && each.overloaded))
    const late = summaries.filter(({ open }) => open.some((each) => each.share === share && each.late))
    const at = `${Math.round(share * 100)} % of the baseline’s capacity`
    const names = (some: readonly CellSummary[]) => some.map(({ cell }) => cell.name).join(', ')
    return [
      ...(overloaded.length > 0 ? [`Overloaded at ${at}: ${names(overloaded)}.`] : []),
      ...(late.length > 0
        ? [`The load generator itself was late at ${at}, so latencies have no verdict: ${names(late)}.`]
        : []),
    ]
  })
}
