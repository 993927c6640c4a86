import type { Distribution } from '../engine/job.ts'
import type { Cell, Timing } from '../protocol/plan.ts'
import type { Cold } from '../protocol/warming.ts'
import type { CellRound, OpenSlice, Round } from '../protocol/round.ts'
import { coresOf, generatorCoresOf, type Slice } from '../protocol/slice.ts'
import { merge, type Merged } from './histogram.ts'
import { faultsOf, isLate, isOverloaded, isSaturated } from './validity.ts'

export interface CellSummary {
  readonly cell: Cell
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  /** The load generator was the bottleneck: requests per second are its limit, not the arm's. */
  readonly saturated: boolean
  /** Rounds whose warm-up was too short. */
  readonly cold: Readonly<Record<Cold, number>>
  /** Medians over rounds. */
  readonly perSecond: number
  readonly perCpuSecond: number | undefined
  /** CPU cores kept busy by the arm. */
  readonly cores: number | undefined
  readonly otherCores: number | undefined
  /** CPU cores kept busy by the load generator. */
  readonly generatorCores: number | undefined
  /** Requests of the closed loop without an answer after two seconds. */
  readonly unanswered: number
  readonly slices: readonly Slice[]
  readonly open: readonly OpenSummary[]
  /** By round. Undefined for a round without a good slice. */
  readonly rounds: readonly (RoundSummary | undefined)[]
}

export interface RoundSummary {
  readonly perSecond: number
  readonly perCpuSecond: number | undefined
  /** In order. Empty if it was measured in slices. */
  readonly pulses: readonly PulseSummary[]
}

export type PulseSummary = Pick<RoundSummary, 'perSecond' | 'perCpuSecond'>

/** Latency at one share of the baseline's capacity. */
export interface OpenSummary {
  readonly share: number
  readonly rate: number
  /** Good answers per second. */
  readonly perSecond: number
  readonly latency: Merged | null
  readonly overloaded: boolean
  readonly late: boolean
  readonly rounds: readonly (Merged | null)[]
}

export function summarise(cells: readonly Cell[], rounds: readonly Round[], { openShares }: Timing): CellSummary[] {
  return cells.map((cell) => {
    const found = rounds.map((round) => round.cells.get(cell.name)!)
    const slices = found.flatMap((each) => each.slices)
    const invalidBecause = faultsOf(cell, rounds)
    const each = found.map(({ slices }) => (slices.length === 0 ? undefined : summariseRound(slices)))
    const good = each.filter((round) => round !== undefined)
    return {
      cell,
      valid: invalidBecause.length === 0,
      invalidBecause,
      saturated: isSaturated(slices),
      cold: {
        few: found.filter(({ cold }) => cold === 'few').length,
        unsteady: found.filter(({ cold }) => cold === 'unsteady').length,
      },
      perSecond: median(good.map((round) => round.perSecond)),
      perCpuSecond: medianOf(good.map((round) => round.perCpuSecond)),
      cores: medianOf(slices.map(coresOf)),
      otherCores: medianOf(slices.map((slice) => slice.otherCores)),
      generatorCores: medianOf(slices.map(generatorCoresOf)),
      unanswered: slices.reduce((sum, { result }) => sum + countAbove(result.latency, unansweredAfterMs), 0),
      slices,
      open: openShares.flatMap((share) => summariseOpen(found, share)),
      rounds: each,
    }
  })
}

function summariseRound(slices: readonly Slice[]): RoundSummary {
  const sum = (pick: (slice: Slice) => number) => slices.reduce((total, slice) => total + pick(slice), 0)
  const cpu = sum((slice) => slice.serverCpuSeconds ?? 0)
  return {
    perSecond: sum((slice) => slice.result.done) / sum((slice) => slice.result.seconds),
    perCpuSecond: cpu > 0 ? sum((slice) => slice.answered) / cpu : undefined,
    pulses: slices.flatMap(({ pulses = [] }) =>
      pulses.map(({ done, seconds, cpuSeconds }) => ({
        perSecond: done / seconds,
        perCpuSecond: cpuSeconds === undefined || cpuSeconds <= 0 ? undefined : done / cpuSeconds,
      })),
    ),
  }
}

function summariseOpen(found: readonly CellRound[], share: number): OpenSummary[] {
  const perRound = found.map(({ open }) => open.filter((each) => each.share === share))
  const all = perRound.flat()
  if (all.length === 0) return []
  const merged = (some: readonly OpenSlice[]) => merge(some.map(({ slice }) => slice.result.latency))
  return [
    {
      share,
      rate: median(all.map(({ rate }) => rate)),
      perSecond: median(all.map(({ slice }) => slice.result.perSecond)),
      latency: merged(all),
      overloaded: isMost(all, isOverloaded),
      late: isMost(all, isLate),
      rounds: perRound.map(merged),
    },
  ]
}

/** When a request counts as unanswered. */
const unansweredAfterMs = 2000

function countAbove({ buckets }: Distribution, limit: number): number {
  return buckets.reduce((sum, [edge, count]) => sum + (edge > limit ? count : 0), 0)
}

function isMost<T>(all: readonly T[], holds: (each: T) => boolean): boolean {
  return all.filter(holds).length > all.length / 2
}

/** NaN if empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  if (sorted.length === 0) return Number.NaN
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}

export function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : median(known)
}
