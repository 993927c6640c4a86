/** What the page remembers of the last minutes. */
import { signal } from '@preact/signals'
import type { AppStatus, Bucket, Edge, StatusEvent, Worker } from '../api/types.ts'
import { addBuckets, type Counts } from './latency.ts'

/** Points that are kept: ten minutes. */
const most = 600

/** A moment of one worker. Null: not known. */
export type WorkerPoint = Pick<Worker, 'cpu' | 'eventLoopUtilization' | 'eventLoopDelay' | 'heapUsed' | 'memory'> & {
  /** The share of the time for garbage collection. */ readonly gc: number | null
}

/** What one edge did between two moments. */
export interface EdgePoint {
  readonly calls: number
  readonly failures: number
  readonly buckets: readonly Bucket[]
}

export interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Seconds since the moment before; 0 for the first one. */
  readonly seconds: number
  readonly workers: ReadonlyMap<string, WorkerPoint>
  readonly edges: ReadonlyMap<string, EdgePoint>
}

/** The oldest first. A new list with each moment. */
export const moments = signal<readonly Moment[]>([])

export function edgeKey({ caller, callee, protocol, method, route, transport }: Edge): string {
  return [caller, callee, protocol, method, route, transport].join(' ')
}

let before: { readonly status: AppStatus; readonly at: number } | undefined

export function recordStatus({ at, status, latencies }: StatusEvent): void {
  const last = before?.status.app.startedAt === status.app.startedAt ? before : undefined
  before = { status, at }
  const seconds = last === undefined ? 0 : Math.max(0.001, (at - last.at) / 1000)
  const buckets = new Map(latencies.map(({ edge, buckets }) => [edge, buckets]))
  const known = new Map(last?.status.edges.map((edge) => [edgeKey(edge), edge]))
  const edges = status.edges.map((edge, index): [string, EdgePoint] => {
    const earlier = last === undefined ? edge : known.get(edgeKey(edge))
    const calls = edge.calls - (earlier?.calls ?? 0)
    const failures = edge.failures - (earlier?.failures ?? 0)
    return [edgeKey(edge), { calls, failures, buckets: buckets.get(index) ?? [] }]
  })
  const workers = status.workers.map((worker): [string, WorkerPoint] => [worker.name, pointOf(worker, last, seconds)])
  const moment = { at, seconds, workers: new Map(workers), edges: new Map(edges) }
  moments.value = [...moments.value, moment].slice(-most)
}

/** What edges did in the last `seconds` together. */
export interface Recent {
  /** Null at the first moment. */
  readonly perSecond: number | null
  readonly calls: number
  readonly failures: number
  readonly counts: Counts
}

export function recentOf(keys: readonly string[], seconds: number): Recent {
  const list = moments.value
  const since = (list.at(-1)?.at ?? 0) - seconds * 1000
  const counts: Counts = new Map()
  let [spanned, calls, failures] = [0, 0, 0]
  for (let index = list.length - 1; index >= 0 && list[index]!.at > since; index--) {
    const moment = list[index]!
    spanned += moment.seconds
    for (const key of keys) {
      const point = moment.edges.get(key)
      if (point === undefined) continue
      calls += point.calls
      failures += point.failures
      addBuckets(counts, point.buckets)
    }
  }
  return { perSecond: spanned === 0 ? null : calls / spanned, calls, failures, counts }
}

function pointOf(worker: Worker, last: typeof before, seconds: number): WorkerPoint {
  const { cpu, eventLoopUtilization, eventLoopDelay, heapUsed, memory, gcTime } = worker
  const earlier = last?.status.workers.find(({ name }) => name === worker.name)
  const grown = gcTime === null || earlier?.gcTime == null ? null : gcTime - earlier.gcTime
  // Negative: another worker is in the slot.
  const gc = grown === null || grown < 0 || seconds === 0 ? null : Math.min(1, grown / 1000 / seconds)
  return { cpu, eventLoopUtilization, eventLoopDelay, heapUsed, memory, gc }
}
