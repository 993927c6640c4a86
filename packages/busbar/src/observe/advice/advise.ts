/**
 * Which services of an app should run elsewhere, from what it does now and what calls cost on this
 * machine. All figures are estimates for the same calls per second.
 */
import type { Service } from '../../config/app.ts'
import { type AppModel, modelOf, type ModelParts } from './app-model.ts'
import { isFromOutside, type Latency, latencyOf } from './app-window.ts'
import { type Estimate, estimate } from './estimate.ts'
import { placedAt, type PlacedService, type Placement } from './placement.ts'
import { differenceOf } from './figures.ts'
import type { Effect, Move } from './move.ts'
import { callLines, cautionsOf, planText } from './sentences.ts'

export interface Suggestion {
  readonly moves: readonly Move[]
  /** One sentence. */
  readonly text: string
  /** The change from now: negative is less. */
  readonly change: Effect
  /** The calls whose transport changes, with the figures of both. */
  readonly figures: readonly string[]
  readonly cautions: readonly string[]
}

export interface ServiceAdvice {
  readonly service: string
  readonly run: Service['run']
  readonly callsPerSecond: number
  /** Processors, without the calls that it makes and answers. Null: not known. */
  readonly cpu: number | null
  /**
   * What it would change to run elsewhere, and everything else where it is. Empty while the
   * processor time of a worker is not known.
   */
  readonly elsewhere: readonly { readonly run: Service['run']; readonly change: Effect }[]
  /** Why it stays where it is. */
  readonly fixed: string | null
}

export interface Advice {
  readonly seconds: number
  readonly now: CurrentLoad
  readonly services: readonly ServiceAdvice[]
  /** The best first. Empty: nothing is clearly better. */
  readonly suggestions: readonly Suggestion[]
  readonly unknown: readonly string[]
}

/** Null: not known, since the processor time of a worker is not. */
export interface CurrentLoad extends Pick<Effect, 'mean' | 'p99'> {
  readonly cpu: number | null
  readonly utilization: number | null
  readonly busiest: string | null
  readonly callsPerSecond: number
  readonly cores: number
}

/** Below it, figures of a window say little. */
const minCalls = 50
/** A gain below this share is not worth a move. */
const minGain = 0.05
/** Busier workers make calls wait, so what counts is how much is left. */
const saturated = 0.8
/** More services than these stay where they are: each doubles the placements to compare. */
const maxMoved = 10

const runs = ['shared', 'thread', 'process'] as const

export function advise(parts: ModelParts): Advice {
  const { window } = parts
  const model = modelOf(parts)
  const latency = latencyOf(window.edges.filter(isFromOutside))
  const before = estimate(model, model.placement)
  const compare = (placement: Placement): Effect => changeOf(before, estimate(model, placement), latency)
  const unknown = [...model.unknown]
  if (latency.calls < minCalls)
    unknown.push(`Only ${latency.calls} calls came from outside in ${window.seconds.toFixed(0)} s: too few for advice.`)
  // All placements are compared by the load of all workers.
  const isKnown = model.unmeasured.size === 0
  const { cpu, utilization, busiest } = isKnown ? before : { cpu: null, utilization: null, busiest: null }
  return {
    seconds: window.seconds,
    now: {
      cpu: window.cpu ?? cpu,
      mean: latency.mean,
      p99: latency.p99,
      utilization,
      busiest,
      callsPerSecond: model.rate,
      cores: model.available,
    },
    services: [...model.placement.services.values()].map((service) => adviceOf(service, model, compare)),
    suggestions: latency.calls < minCalls || !isKnown ? [] : suggest(model, before, compare),
    unknown,
  }
}

type Moves = ReadonlyMap<string, Service['run']>
type Compare = (placement: Placement) => Effect

function adviceOf({ name, run, fixed }: PlacedService, model: AppModel, compare: Compare): ServiceAdvice {
  const { callsPerSecond, cpu } = model.services.get(name)!
  const isMovable = fixed === undefined && model.unmeasured.size === 0
  const others = isMovable ? runs.filter((one) => one !== run) : []
  const elsewhere = others.flatMap((one) => {
    const placement = placedAt(model.placement, new Map([[name, one]]))
    return placement === undefined ? [] : [{ run: one, change: compare(placement) }]
  })
  const isHeld = isMovable && elsewhere.length === 0
  const why = isHeld ? 'a service of the same folder would have to move with it' : (fixed ?? null)
  const own = model.unmeasured.has(name) ? null : cpu
  return { service: name, run, callsPerSecond, cpu: own, elsewhere, fixed: why }
}

function suggest(model: AppModel, before: Estimate, compare: Compare): Suggestion[] {
  const costs = (moves: Moves): number => {
    const placement = placedAt(model.placement, moves)
    return placement === undefined ? Infinity : costOf(estimate(model, placement), before)
  }
  const found = [best(model, costs), bestSingle(model, costs)].filter(
    (moves) => moves.size > 0 && costs(moves) < 1 - minGain,
  )
  const different = found.filter((moves, at) => found.findIndex((one) => sameMoves(one, moves)) === at)
  return different.map((plan) => {
    const moves = [...plan].map(([service, run]) => ({
      service,
      from: model.placement.services.get(service)!.run,
      run,
    }))
    // The costs of another one are not finite.
    const placement = placedAt(model.placement, plan)!
    const change = compare(placement)
    return {
      moves,
      text: planText(moves, change),
      change,
      figures: callLines(model, placement),
      cautions: cautionsOf(moves, model.placement),
    }
  })
}

/** Of all placements in shared workers or in threads, without moves that gain nothing. */
function best(model: AppModel, costs: (moves: Moves) => number): Moves {
  const candidates = movable(model)
  let chosen: Moves = new Map()
  let lowest = 1
  for (let choice = 0; choice < 2 ** candidates.length; choice++) {
    const moves = new Map<string, Service['run']>()
    for (const [at, { name, run }] of candidates.entries()) {
      const wanted = (choice >> at) & 1 ? 'shared' : run === 'shared' ? 'thread' : run
      if (wanted !== run) moves.set(name, wanted)
    }
    const cost = costs(moves)
    if (cost < lowest - 1e-9) [chosen, lowest] = [moves, cost]
  }
  for (const [name] of chosen) {
    const without = new Map([...chosen].filter(([one]) => one !== name))
    if (costs(without) <= lowest + minGain / 5) chosen = without
  }
  return chosen
}

function bestSingle(model: AppModel, costs: (moves: Moves) => number): Moves {
  const all = movable(model).flatMap(({ name, run }) =>
    runs.filter((one) => one !== run).map((one): Moves => new Map([[name, one]])),
  )
  const possible = all.filter((moves) => costs(moves) < Infinity)
  return possible.toSorted((one, other) => costs(one) - costs(other))[0] ?? new Map()
}

/** The busiest ones. */
function movable({ placement, services }: AppModel): PlacedService[] {
  return [...placement.services.values()]
    .filter(({ name, fixed }) => fixed === undefined && services.get(name)!.callsPerSecond > 0)
    .toSorted((one, other) => services.get(other.name)!.callsPerSecond - services.get(one.name)!.callsPerSecond)
    .slice(0, maxMoved)
}

/** Relative to now: below 1 is better. */
function costOf(after: Estimate, before: Estimate): number {
  const busy = after.utilization / Math.max(before.utilization, Number.EPSILON)
  if (before.utilization > saturated) return busy
  const slower = Math.max(1, after.utilization / saturated) ** 4
  return (after.latency / Math.max(before.latency, Number.EPSILON)) * slower
}

/** What is measured changes by as much as the estimate does. */
function changeOf(before: Estimate, after: Estimate, { mean, p99 }: Latency): Effect {
  const isFull = before.utilization > saturated
  const ratio =
    mean === null
      ? 1
      : isFull
        ? after.utilization / Math.max(before.utilization, Number.EPSILON)
        : Math.max(0.05, 1 + (after.latency - before.latency) / Math.max(mean, before.latency, Number.EPSILON))
  const changed = differenceOf(ratio, 1)
  return {
    cpu: differenceOf(after.cpu, before.cpu),
    mean: mean === null ? null : mean * changed,
    p99: p99 === null ? null : p99 * changed,
    utilization: differenceOf(after.utilization, before.utilization),
  }
}

function sameMoves(one: Moves, other: Moves): boolean {
  return one.size === other.size && [...one].every(([name, run]) => other.get(name) === run)
}
