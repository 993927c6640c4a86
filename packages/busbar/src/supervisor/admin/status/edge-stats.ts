import type { CallStats, EdgeStats, WorkerOutcomeStats } from '../../../observe/app-status.ts'
import { type EdgeTotal, type PartTotal, timedOf } from '../../../observe/metrics/edge-totals.ts'
import { calleeOf, callerOf, noWorker } from '../../../shared/metrics/worker-pair.ts'
import { noStatus } from '../../../shared/metrics/edge-table.ts'
import { bucketCount, quantile, upperBound } from '../../../shared/metrics/latency-buckets.ts'

export function toEdgeStats(total: EdgeTotal): EdgeStats {
  const { caller, callee, protocol, method, route, transport, inFlight, retries, callsPerSecond } = total
  const outcomes = [...total.outcomes.values()].sort((one, other) => one.status - other.status)
  const all = new Float64Array(bucketCount)
  let [calls, failures] = [0, 0]
  for (const { status, count, buckets } of outcomes) {
    calls += count
    if (isFailure(status)) failures += count
    buckets.forEach((one, bucket) => (all[bucket]! += one))
  }
  const { p50, p99 } = distribution(all)
  return {
    caller,
    callee,
    protocol,
    method,
    route,
    transport,
    // Two counts of a call are not read at the same moment.
    inFlight: Math.max(0, inFlight),
    calls,
    failures,
    retries,
    callsPerSecond,
    p50,
    p99,
    outcomes: outcomes.map((outcome) => ({
      status: statusText(outcome.status),
      ...partStats(outcome),
      workers: [...outcome.parts].map(([pair, part]) => toWorkerStats(pair, part)),
    })),
  }
}

function toWorkerStats(pair: number, part: PartTotal): WorkerOutcomeStats {
  return { caller: slotOf(callerOf(pair)), callee: slotOf(calleeOf(pair)), ...partStats(part) }
}

function slotOf(worker: number): number | null {
  return worker === noWorker ? null : worker - 1
}

function partStats({
  count,
  sum,
  buckets,
}: PartTotal): Pick<WorkerOutcomeStats, 'count' | 'timed' | 'sum' | 'buckets'> {
  return { count, timed: timedOf({ buckets }), sum, buckets: distribution(buckets).buckets }
}

/** Coarser bounds than the counted buckets: powers of two of microseconds, from 16. */
const coarse = Array.from({ length: bucketCount }, (_, bucket) => bucket).filter((bucket) => {
  const bound = upperBound(bucket)
  return bound === Infinity || (bound >= 16 && Number.isInteger(Math.log2(bound)))
})

export function distribution(counts: Float64Array): Pick<CallStats, 'timed' | 'p50' | 'p99' | 'buckets'> {
  let timed = 0
  const upTo = counts.map((more) => (timed += more))
  const buckets = coarse.map((bucket) => {
    const bound = upperBound(bucket)
    return { le: bound === Infinity ? null : bound / 1000, count: upTo[bucket]! }
  })
  return { timed, p50: quantile(counts, 0.5) / 1000, p99: quantile(counts, 0.99) / 1000, buckets }
}

function isFailure(status: number): boolean {
  return status === noStatus || (status >= 5 && status < 100) || status >= 500
}

function statusText(status: number): string {
  if (status === noStatus) return 'none'
  return status < 100 ? `${status}xx` : `${status}`
}
