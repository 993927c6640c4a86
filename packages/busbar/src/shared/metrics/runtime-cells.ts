/**
 * What a worker reports of its event loop, its heap and its garbage collection: the second part of
 * its row in `worker-cells.ts`.
 */
import { getHeapSpaceStatistics } from 'node:v8'

/** Milliseconds and bytes. */
export interface RuntimeStats {
  /** How late the timer of the heartbeat was, in the last ten seconds. */
  readonly delays: LoopDelays
  /** Since the start of the worker. */
  readonly loopTime: { readonly active: number; readonly idle: number }
  readonly heap: { readonly total: number; readonly limit: number; readonly external: number }
  readonly spaces: readonly HeapSpace[]
  /** Since the start of the worker. */
  readonly gc: readonly GcStats[]
}

export const delayNames = ['last', 'min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const
export type LoopDelays = Readonly<Record<(typeof delayNames)[number], number>>

export interface HeapSpace {
  readonly name: string
  readonly size: number
  readonly used: number
  readonly available: number
  readonly physical: number
}

export interface GcStats {
  readonly kind: GcKind
  readonly sum: number
  /** By bucket of {@link gcBounds}; the last one has no bound. */
  readonly counts: readonly number[]
}

/** As the semantic conventions call them, and `prom-client`. */
export const gcKinds = ['minor', 'major', 'incremental', 'weakcb'] as const
export type GcKind = (typeof gcKinds)[number]
/** Milliseconds: those of the conventions, and those of `prom-client`. */
export const gcBounds = [1, 10, 100, 1000, 2000, 5000, 10_000]

const maxSpaces = 16
const spaceCells = 4
const gcCells = 1 + gcBounds.length + 1

const loopAt = delayNames.length
const heapAt = loopAt + 2
const spacesAt = heapAt + 3
const gcAt = spacesAt + maxSpaces * spaceCells
export const runtimeCells = gcAt + gcKinds.length * gcCells

/** Every thread has the same heap spaces, and every process runs the same Node. */
let names: readonly string[] | undefined

export function writeRuntime(cells: Uint32Array, { delays, loopTime, heap, spaces, gc }: RuntimeStats): void {
  for (const [at, name] of delayNames.entries()) cells[at] = Math.round(delays[name] * 1000)
  // In units of 10 ms, it takes more than a year until they wrap.
  cells[loopAt] = Math.round(loopTime.active / 10)
  cells[loopAt + 1] = Math.round(loopTime.idle / 10)
  cells.set([heap.total, heap.limit, heap.external].map(toKib), heapAt)
  for (const [at, { size, used, available, physical }] of spaces.slice(0, maxSpaces).entries())
    cells.set([size, used, available, physical].map(toKib), spacesAt + at * spaceCells)
  for (const [at, { sum, counts }] of gc.entries()) cells.set([Math.round(sum * 10), ...counts], gcAt + at * gcCells)
}

/** Null: the worker has not reported yet. */
export function readRuntime(cells: Uint32Array): RuntimeStats | null {
  const [total, limit, external] = bytesAt(cells, heapAt, 3)
  if (limit === 0) return null
  names ??= getHeapSpaceStatistics().map((space) => space.space_name)
  const delays = Object.fromEntries(delayNames.map((name, at) => [name, cells[at]! / 1000])) as LoopDelays
  return {
    delays,
    loopTime: { active: cells[loopAt]! * 10, idle: cells[loopAt + 1]! * 10 },
    heap: { total: total!, limit: limit!, external: external! },
    spaces: names.slice(0, maxSpaces).map((name, at) => {
      const [size, used, available, physical] = bytesAt(cells, spacesAt + at * spaceCells, spaceCells)
      return { name, size: size!, used: used!, available: available!, physical: physical! }
    }),
    gc: gcKinds.map((kind, at) => {
      const from = gcAt + at * gcCells
      return { kind, sum: cells[from]! / 10, counts: [...cells.subarray(from + 1, from + gcCells)] }
    }),
  }
}

function toKib(bytes: number): number {
  return bytes / 1024
}

function bytesAt(cells: Uint32Array, at: number, count: number): number[] {
  return [...cells.subarray(at, at + count)].map((kib) => kib * 1024)
}
