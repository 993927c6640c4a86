/** Sentences on what a reader must know before believing a table. */
import { throughputThatDecides } from './comparison.ts'
import type { Engine } from './engine/load.ts'
import type { Timing } from './protocol/plan.ts'
import type { Round } from './protocol/round.ts'
import { medianOf, type CellSummary } from './summary.ts'

export interface Noted {
  readonly engine: Engine
  readonly sharesCores: boolean
  readonly summaries: readonly CellSummary[]
  readonly rounds: readonly Round[]
  readonly timing: Timing
}

/** From here on other work on the machine is worth a sentence. Cores. */
const crowd = 0.2

export function notesOn(found: Noted): string[] {
  return [
    ...onEngine(found),
    ...onCores(found),
    ...onNeighbours(found),
    ...onWaits(found),
    ...onWarmUp(found),
    ...onRates(found),
  ]
}

function onEngine({ engine }: Noted): string[] {
  if (engine.kind === 'busbar-load') return []
  return [
    'The load engine is not built here (`cargo build --release` makes it), so autocannon made the load: throughput only. It shares one event loop with all its connections, and latencies from there are no verdict on the servers.',
  ]
}

function onCores({ sharesCores, summaries }: Noted): string[] {
  if (throughputThatDecides(summaries, sharesCores) === 'perSecond') return []
  const bound = summaries.filter(({ saturated, cell }) => saturated && !cell.control).map(({ cell }) => cell.name)
  const decides = 'requests per server CPU second decide'
  if (bound.length > 0)
    return [
      `The load generator had no time to wait with ${bound.join(', ')}, so requests per second are its limit, and ${decides}.`,
    ]
  return [`The load generator shares its cores with the servers, so ${decides}: that is each arm’s own.`]
}

function onNeighbours({ summaries }: Noted): string[] {
  const others = medianOf(summaries.map(({ otherCores }) => otherCores)) ?? 0
  if (others < crowd) return []
  return [
    `Other programs kept ${others.toFixed(1)} cores busy meanwhile; on a quiet machine the intervals are narrower.`,
  ]
}

function onWaits({ rounds }: Noted): string[] {
  const seconds = rounds.reduce((sum, { waited }) => sum + waited, 0)
  if (seconds < 1) return []
  return [
    `Waited ${Math.round(seconds)} s in all for other guests of this machine’s host, who took its processors; what they disturbed was measured again.`,
  ]
}

function onWarmUp({ summaries, rounds }: Noted): string[] {
  const unsteady = summaries.filter((summary) => summary.unsteady > rounds.length / 2).map(({ cell }) => cell.name)
  if (unsteady.length === 0) return []
  return [`Not steady after the longest warm-up in most rounds: ${unsteady.join(', ')}.`]
}

function onRates({ summaries, timing }: Noted): string[] {
  return timing.openShares.flatMap((share) => {
    const overloaded = summaries.filter(({ open }) => open.some((each) => each.share === share && each.overloaded))
    const late = summaries.filter(({ open }) => open.some((each) => each.share === share && each.late))
    const at = `${Math.round(share * 100)} % of the baseline’s capacity`
    const names = (some: readonly CellSummary[]) => some.map(({ cell }) => cell.name).join(', ')
    return [
      ...(overloaded.length > 0 ? [`More than they can do, at ${at}: ${names(overloaded)}.`] : []),
      ...(late.length > 0
        ? [`The generator itself was late at ${at}, so that latencies give no verdict: ${names(late)}.`]
        : []),
    ]
  })
}
