/** Reasons why a measurement does not count. */
import type { OpenSlice, Round, CellRound } from '../protocol/round.ts'
import { differences } from '../protocol/parity.ts'
import type { Cell } from '../protocol/plan.ts'
import { formatFaults, faultsOfSlice, type Fault } from '../protocol/faults.ts'
import { busy } from '../machine/samples.ts'
import { coresOf, type PulseCost, type Slice } from '../protocol/slice.ts'
import { isSuccess } from '../engine/statuses.ts'

/** Share of CPU time from which the generator counts as the bottleneck. */
const saturated = 0.95
/** Delay of the generator itself (milliseconds, p99) that distorts latencies. */
const late = 1
/** Such a delay matters only from this share of the latency. */
const lateShare = 0.25
/** Share of a cell's slices that may be lost to disturbances. */
const maxLoss = 0.3

/** Why a cell does not count. Empty if it does. */
export function faultsOf(cell: Cell, rounds: readonly Round[]): string[] {
  const found = rounds.flatMap((round) => round.cells.get(cell.name) ?? [])
  const baselines = rounds.flatMap((round) => round.cells.get(cell.baseline ?? cell.name) ?? [])
  const slices = found.flatMap((each) => each.slices)
  return [
    ...new Set([
      ...found.flatMap(({ failure }) => failure ?? []),
      ...formatFaults([
        ...found.flatMap(({ faults }) => faults),
        ...slices.flatMap((slice) => faultsOfSlice(slice)),
        ...found.flatMap(({ open }) => open.flatMap(faultsOfOpen)),
      ]),
      ...differencesFromBaseline(cell, found, baselines),
      ...idleWorkers(cell, slices),
      ...lostSlices(found),
    ]),
  ]
}

/** The load generator was the bottleneck. */
export function isSaturated(slices: readonly Slice[]): boolean {
  const busy = slices.map(({ result }) => result.generator.busy).toSorted((one, other) => one - other)
  return (busy[Math.floor(busy.length / 2)] ?? 0) > saturated
}

/** The generator's own delay was a substantial part of the latencies. */
export function isLate({ slice: { result } }: OpenSlice): boolean {
  const p99 = result.pacing?.p99 ?? 0
  return p99 > late && p99 > lateShare * result.latency.p99
}

/** The rate exceeded the arm's capacity, so latencies only reflect the length of the slice. */
export function isOverloaded({ slice: { result } }: OpenSlice): boolean {
  const missed = result.unsent + result.unfinished + result.late
  return missed > 0.02 * (missed + result.done)
}

/** An overloaded server may refuse or delay requests, but its answers must be correct. */
function faultsOfOpen(open: OpenSlice): Fault[] {
  const where = `at ${Math.round(open.share * 100)} % load, `
  const faults = faultsOfSlice(open.slice).map((fault) => ({ ...fault, kind: `${where}${fault.kind}` }))
  if (!isOverloaded(open)) return faults
  const { statuses } = open.slice.result
  const refuses = Object.keys(statuses).every((status) => status === '503' || isSuccess(status))
  return faults.filter(({ kind }) => /mismatch:(?!status)/.test(kind) || (kind.includes('mismatch:status') && !refuses))
}

/** Differences from the baseline: answers, the version of Node, flags. */
function differencesFromBaseline(cell: Cell, found: readonly CellRound[], baselines: readonly CellRound[]): string[] {
  const known = baselines.find(({ answers }) => answers.length > 0)?.answers ?? []
  const different = found.flatMap((each, round) =>
    each.answers.flatMap((answer, request) => {
      const other = baselines[round]?.answers[request] ?? known[request]
      return other === undefined ? [] : differences(answer, other, cell.translated)
    }),
  )
  const [own, theirs] = [runtimesOf(found), runtimesOf(baselines)]
  const same = own === '' || theirs === '' || own === theirs
  return [...different, ...(same ? [] : [`it ran on ${own}, the baseline on ${theirs}`])]
}

function runtimesOf(found: readonly CellRound[]): string {
  return [...new Set(found.flatMap((each) => each.runtimes))].toSorted().join(' and ')
}

/** Idle workers, although there were enough connections for all of them. */
function idleWorkers({ workers, work, arm }: Cell, slices: readonly Slice[]): string[] {
  if (workers === 1 || arm.single || work.connections < 8 * workers || work.runs !== undefined) return []
  const seen = slices.flatMap((slice) => busyThreads(slice) ?? [])
  const most = Math.max(...seen)
  return seen.length > 0 && most < workers ? [`only ${most} of ${workers} workers did any work`] : []
}

/**
 * Undefined unless the samples cover most of the CPU time, so that no important thread is missing.
 */
function busyThreads(slice: Slice): number | undefined {
  if (slice.pulses !== undefined) return busyInPulses(slice.threadSeconds ?? [], slice.pulses)
  const cores = coresOf(slice)
  return isMost(slice.runtime?.cpu, cores) ? slice.runtime!.busyThreads : undefined
}

function busyInPulses(threads: readonly number[], pulses: readonly PulseCost[]): number | undefined {
  const seconds = sumOf(pulses.map((pulse) => pulse.seconds))
  if (!isMost(sumOf(threads), sumOf(pulses.map(({ cpuSeconds = NaN }) => cpuSeconds)))) return undefined
  return threads.filter((each) => each > busy * seconds).length
}

/** False if one is unknown. */
function isMost(part = NaN, whole = NaN): boolean {
  return part > 0.7 * whole
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0)

function lostSlices(found: readonly CellRound[]): string[] {
  const lost = found.reduce((sum, each) => sum + each.lost, 0)
  const all = lost + found.reduce((sum, each) => sum + each.slices.length + each.open.length, 0)
  return lost > maxLoss * all ? [`${lost} of ${all} slices were lost to steal or throttling`] : []
}
