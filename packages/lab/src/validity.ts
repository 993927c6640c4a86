/** What makes a measurement count for nothing, and why. */
import type { OpenSlice, Round, CellRound } from './protocol/round.ts'
import { differences } from './protocol/parity.ts'
import type { Cell } from './protocol/plan.ts'
import { faultsInWords, faultsOfSlice, type Fault } from './protocol/faults.ts'
import { coresOf, type Slice } from './protocol/slice.ts'

/** A generator that waits for less than a twentieth of the time is what was measured. */
const saturated = 0.95
/** A request written so late by the generator itself (milliseconds, at p99) is late in every latency. */
const late = 1
/** And only counts for something beside latencies that it is this share of. */
const lateShare = 0.25
/** The share of a cell's slices that may be lost to the machine. */
const losable = 0.3

/** Why a cell does not count: empty where it does. */
export function faultsOf(cell: Cell, rounds: readonly Round[]): string[] {
  const found = rounds.flatMap((round) => round.cells.get(cell.name) ?? [])
  const baselines = rounds.flatMap((round) => round.cells.get(cell.baseline ?? cell.name) ?? [])
  const slices = found.flatMap((each) => each.slices)
  return [
    ...new Set([
      ...found.flatMap(({ failure }) => failure ?? []),
      ...faultsInWords([
        ...found.flatMap(({ faults }) => faults),
        ...slices.flatMap((slice) => faultsOfSlice(slice)),
        ...found.flatMap(({ open }) => open.flatMap(faultsOfOpen)),
      ]),
      ...unlike(cell, found, baselines),
      ...lacking(cell, slices),
      ...lossOf(found),
    ]),
  ]
}

/** The generator had no time to wait: it, not the server, set the pace. */
export function isSaturated(slices: readonly Slice[]): boolean {
  const busy = slices.map(({ result }) => result.generator.busy).toSorted((one, other) => one - other)
  return (busy[Math.floor(busy.length / 2)] ?? 0) > saturated
}

/** The generator was itself late by a good part of the latencies that it measured. */
export function isLate({ slice: { result } }: OpenSlice): boolean {
  const p99 = result.pacing?.p99 ?? 0
  return p99 > late && p99 > lateShare * result.latency.p99
}

/** More was asked than this arm can do: its latencies are only that long because the slice ended. */
export function isOverloaded({ slice: { result } }: OpenSlice): boolean {
  const missed = result.unsent + result.unfinished + result.late
  return missed > 0.02 * (missed + result.done)
}

/** An overloaded server may refuse and let wait, but not answer wrongly. */
function faultsOfOpen(open: OpenSlice): Fault[] {
  const where = `at ${Math.round(open.share * 100)} % load, `
  const faults = faultsOfSlice(open.slice).map((fault) => ({ ...fault, kind: `${where}${fault.kind}` }))
  if (!isOverloaded(open)) return faults
  const { statuses } = open.slice.result
  const refuses = Object.keys(statuses).every((status) => status === '503' || status.startsWith('2'))
  return faults.filter(({ kind }) => /mismatch:(?!status)/.test(kind) || (kind.includes('mismatch:status') && !refuses))
}

/** Other answers, another Node or other flags than the baseline's. */
function unlike(cell: Cell, found: readonly CellRound[], baselines: readonly CellRound[]): string[] {
  const answers = found.flatMap(({ answer }, round) => {
    const other = baselines[round]?.answer ?? baselines.find((each) => each.answer)?.answer
    return answer === undefined || other === undefined
      ? []
      : differences(answer, other, cell.arm.translate !== undefined)
  })
  const [own, theirs] = [runtimesOf(found), runtimesOf(baselines)]
  const same = own === '' || theirs === '' || own === theirs
  return [...answers, ...(same ? [] : [`it ran under ${own}, the baseline under ${theirs}`])]
}

function runtimesOf(found: readonly CellRound[]): string {
  return [...new Set(found.flatMap((each) => each.runtimes))].toSorted().join(' and ')
}

/** Fewer workers at work than were asked for, where enough connections came for all of them. */
function lacking({ workers, work, arm }: Cell, slices: readonly Slice[]): string[] {
  if (workers === 1 || arm.single || work.connections < 8 * workers || work.runs !== undefined) return []
  const seen = slices.filter((slice) => seesAll(slice)).map((slice) => slice.runtime!.busyThreads)
  const most = Math.max(...seen)
  return seen.length > 0 && most < workers ? [`${most} of the ${workers} workers asked for did any work`] : []
}

/** The runtimes have told of most of the CPU time that was spent: no thread of weight is unknown. */
function seesAll(slice: Slice): boolean {
  const cores = coresOf(slice)
  return slice.runtime !== undefined && cores !== undefined && slice.runtime.cpu > 0.7 * cores
}

function lossOf(found: readonly CellRound[]): string[] {
  const lost = found.reduce((sum, each) => sum + each.lost, 0)
  const all = lost + found.reduce((sum, each) => sum + each.slices.length + each.open.length, 0)
  return lost > losable * all ? [`${lost} of ${all} slices were lost to steal or throttling`] : []
}
