/** What an app has done between two readings: its edges, and the processor time of its workers. */
import { bucketCount, quantile } from '../../shared/metrics/latency-buckets.ts'
import type { AppStatus } from '../app-status.ts'
import { callsOf, type EdgeTotal, timedOf } from '../metrics/edge-totals.ts'

export interface Reading {
  /** Milliseconds of a monotonic clock. */
  readonly at: number
  readonly status: AppStatus
  /** Copies: the originals go on. */
  readonly edges: readonly EdgeTotal[]
  /** Milliseconds of processor time of all processes of the machine since its start. */
  readonly machine: number
}

export interface AppWindow {
  readonly seconds: number
  readonly edges: readonly EdgeWindow[]
  readonly workers: readonly WorkerWindow[]
  /** Processors used by the app's processes. Null: not known. */
  readonly cpu: number | null
  /** Processors used by all processes of the machine. */
  readonly machine: number
}

/** The calls of an edge that ended between the readings. Times are milliseconds. */
export interface EdgeWindow extends Pick<
  EdgeTotal,
  'caller' | 'callee' | 'protocol' | 'method' | 'route' | 'transport'
> {
  readonly calls: number
  readonly failures: number
  /** Calls whose duration is known: not those that were in flight when their worker died. */
  readonly timed: number
  readonly mean: number
  /** By bucket of `latency-buckets.ts`. */
  readonly buckets: Float64Array
}

export interface WorkerWindow {
  readonly name: string
  readonly kind: AppStatus['workers'][number]['kind']
  readonly services: readonly string[]
  /** Processors used. Null: not known, as of a worker that was replaced meanwhile. */
  readonly cpu: number | null
  readonly loop: number | null
}

export function windowOf(before: Reading, after: Reading): AppWindow {
  const milliseconds = Math.max(1, after.at - before.at)
  const workers = workersOf(before, after, milliseconds)
  return {
    seconds: milliseconds / 1000,
    edges: edgesOf(before, after),
    workers,
    cpu: appCpu(before, after, workers, milliseconds),
    machine: Math.max(0, after.machine - before.machine) / milliseconds,
  }
}

/** Of all calls together. Times are milliseconds; null if no duration is known. */
export interface Latency {
  readonly calls: number
  readonly failures: number
  readonly mean: number | null
  readonly p50: number | null
  readonly p99: number | null
}

export function latencyOf(edges: readonly EdgeWindow[]): Latency {
  const buckets = new Float64Array(bucketCount)
  let [calls, failures, timed, time] = [0, 0, 0, 0]
  for (const edge of edges) {
    calls += edge.calls
    failures += edge.failures
    timed += edge.timed
    time += edge.mean * edge.timed
    edge.buckets.forEach((count, at) => (buckets[at]! += count))
  }
  if (timed === 0) return { calls, failures, mean: null, p50: null, p99: null }
  const [p50, p99] = [quantile(buckets, 0.5) / 1000, quantile(buckets, 0.99) / 1000]
  return { calls, failures, mean: time / timed, p50, p99 }
}

export function isFromOutside({ caller }: Pick<EdgeWindow, 'caller'>): boolean {
  return caller === ''
}

function edgesOf(before: Reading, after: Reading): EdgeWindow[] {
  const earlier = new Map(before.edges.map((edge) => [keyOf(edge), edge]))
  return after.edges
    .map((edge) => edgeWindow(edge, earlier.get(keyOf(edge))))
    .filter(({ calls }) => calls > 0)
    .sort((one, other) => other.calls - one.calls)
}

function edgeWindow(now: EdgeTotal, before: EdgeTotal | undefined): EdgeWindow {
  const { caller, callee, protocol, method, route, transport } = now
  const buckets = new Float64Array(bucketCount)
  let [time, failures] = [0, 0]
  for (const [status, outcome] of now.outcomes) {
    const earlier = before?.outcomes.get(status)
    outcome.buckets.forEach((count, at) => (buckets[at]! += count - (earlier?.buckets[at] ?? 0)))
    time += outcome.sum - (earlier?.sum ?? 0)
    // 0: no response; 5: a class of statuses.
    if (status === 0 || status === 5 || status >= 500) failures += outcome.count - (earlier?.count ?? 0)
  }
  const calls = callsOf(now) - (before === undefined ? 0 : callsOf(before))
  const timed = timedOf({ buckets })
  const mean = timed > 0 ? Math.max(0, time) / timed : 0
  return { caller, callee, protocol, method, route, transport, calls, failures, timed, mean, buckets }
}

function keyOf({ caller, callee, protocol, method, route, transport }: EdgeTotal): string {
  return JSON.stringify([caller, callee, protocol, method, route, transport])
}

function workersOf(before: Reading, { status }: Reading, milliseconds: number): WorkerWindow[] {
  const earlier = new Map(before.status.workers.map((worker) => [worker.worker, worker]))
  return status.workers.map(({ worker, name, kind, pid, startedAt, restarts, cpuTime, eventLoopUtilization }) => {
    const was = earlier.get(worker)
    const isSame = was?.name === name && was.startedAt === startedAt && was.pid === pid && was.restarts === restarts
    // Nothing has run in a slot that was empty all the time.
    const isEmpty = startedAt === null
    const grown = isEmpty ? 0 : cpuTime === null || was?.cpuTime == null ? -1 : cpuTime - was.cpuTime
    const services = status.instances.filter((one) => one.worker === worker).map(({ service }) => service)
    return {
      name,
      kind,
      services,
      cpu: isSame && grown >= 0 ? grown / milliseconds : null,
      loop: eventLoopUtilization,
    }
  })
}

/** The process of the supervisor has all threads; the others are workers. */
function appCpu(
  before: Reading,
  after: Reading,
  workers: readonly WorkerWindow[],
  milliseconds: number,
): number | null {
  const own = (after.status.app.cpuTime - before.status.app.cpuTime) / milliseconds
  const others = workers.filter(({ kind }) => kind === 'process' || kind === 'command')
  if (others.some(({ cpu }) => cpu === null)) return null
  return own + others.reduce((sum, { cpu }) => sum + cpu!, 0)
}
