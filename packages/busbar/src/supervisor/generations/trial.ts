import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../../shared/app/supervision.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { bucketCount, quantile } from '../../shared/metrics/latency-buckets.ts'

/** The rows of the workers of both generations in the shared memory. */
export interface TrialRows {
  readonly old: readonly number[]
  readonly young: readonly number[]
}

/** What the instances of a service have done, as counters. */
interface Counters {
  readonly calls: number
  readonly failures: number
  readonly inFlight: number
  /** How long calls took in the instance, by bucket. */
  readonly times: Float64Array
}

/** What a generation of a service has done during a trial. */
export interface TrialFigures {
  readonly calls: number
  /** The share of calls that failed, 0 to 1. */
  readonly errors: number
  /** The share of calls that were still in flight at the end. */
  readonly unanswered: number
  /** Of how many calls the times are known. */
  readonly timed: number
  /** Milliseconds. */
  readonly median: number
  readonly p99: number
}

type Reason = 'errors' | 'p99' | 'median' | 'unanswered'

interface Finding {
  readonly why: Reason
  readonly service: string
  readonly text: string
}

/** A service that was not compared, with the calls of its instances. */
export interface Untested {
  readonly service: string
  readonly running: number
  readonly next: number
}

/** Failures up to this share are no reason: one of a few calls may always fail. */
const negligibleErrors = 0.01
/** Milliseconds; differences below are noise. */
const negligibleTime = 5
/**
 * A service that answers less than half of its calls hangs, unless the running one does the same.
 * It soon gets no more calls, since others have fewer in flight, so one call is enough. It then has
 * this many milliseconds more: the call may have begun at the end.
 */
const hanging = { unanswered: 0.5, factor: 2, grace: 1000 } as const
/**
 * Calls go to the least busy instance, so one that is many times slower gets few of them: 16 and
 * 2,302 were seen, with 300 and 3 ms. If half of these took longer than nearly all of the running
 * one, they are enough.
 */
const fewestTimed = 5

/**
 * Lets both generations serve for a while, and rejects with GENERATION_WORSE if the new one fails
 * more often, or is slower, by more than the config allows. Each service is compared with itself:
 * callers of both generations call both, so a fault of one service shows in all that need it.
 * `start` lets the new one serve. Calls that take long before it resolves are no reason: code is
 * compiled in the first ones. Those that fail, and those that are never answered, are.
 * Resolves to the services whose new instances got too few calls to tell, while the running ones
 * had enough: connections that clients keep open stay with the running generation, and calls go to
 * the least busy instance.
 */
export async function tryOut(
  { window, ...limits }: Trial,
  table: InstanceTable,
  { old, young }: TrialRows,
  signal: AbortSignal,
  start?: () => Promise<void>,
): Promise<readonly Untested[]> {
  const services = table.shape.services.map(({ name }) => name)
  const read = (rows: readonly number[]): Counters[] => services.map((service) => countersOf(table, rows, service))
  const before = { old: read(old), young: read(young) }
  await start?.()
  const compiled = start === undefined ? before : { old: read(old), young: read(young) }
  const pause = (milliseconds: number): Promise<unknown> => sleep(milliseconds, undefined, { signal }).catch(() => {})
  const figures = (): { service: string; running: TrialFigures; next: TrialFigures }[] => {
    const after = { old: read(old), young: read(young) }
    return services.map((service, at) => ({
      service,
      running: figuresOf({ ...before.old[at]!, times: compiled.old[at]!.times }, after.old[at]!),
      next: figuresOf({ ...before.young[at]!, times: compiled.young[at]!.times }, after.young[at]!),
    }))
  }
  const look = (): Finding | undefined => {
    const findings = figures().map(({ service, running, next }): Finding | undefined => {
      const why = whyWorse(running, next, limits)
      return why && { why, service, text: textOf[why](running, next) }
    })
    return findings.find((one) => one !== undefined)
  }
  await pause(window)
  let found = look()
  if (found?.why === 'unanswered') {
    await pause(hanging.grace)
    found = look()
  }
  // A call that a stop has found in flight is no reason.
  if (found !== undefined && !signal.aborted) throw worse(found.service, found.text)
  const isHosted = (service: string): boolean => young.some((row) => table.at(row, service).state !== 'absent')
  return figures()
    .filter(({ running, next }) => running.calls >= limits.calls && next.calls < limits.calls)
    .filter(({ service }) => isHosted(service))
    .map(({ service, running, next }) => ({ service, running: running.calls, next: next.calls }))
}

/** A generation that is unhealthy at the end of its trial is worse, whatever its figures are. */
export function unhealthy(service: string, why: string): BusbarError {
  return worse(service, `its health checks fail; the last time, ${why}`)
}

/** Undefined if it is not worse, or if it had too few calls to tell. */
export function whyWorse(
  running: TrialFigures,
  next: TrialFigures,
  { errors, p99, calls }: Pick<Trial, 'errors' | 'p99' | 'calls'>,
): Reason | undefined {
  const hangs = next.unanswered > hanging.unanswered && next.unanswered > hanging.factor * running.unanswered
  if (hangs && running.calls > 0) return 'unanswered'
  if (next.calls < calls) {
    const isCompared = running.calls >= calls && next.timed >= fewestTimed
    return isCompared && isSlower(next.median, running.p99, p99) ? 'median' : undefined
  }
  if (next.errors > negligibleErrors && next.errors > errors * running.errors) return 'errors'
  if (running.calls < calls) return undefined
  return isSlower(next.p99, running.p99, p99) ? 'p99' : undefined
}

/** By more than the factor, and by more than noise. In milliseconds. */
function isSlower(time: number, than: number, factor: number): boolean {
  return time > factor * than && time - than > negligibleTime
}

const textOf: Readonly<Record<Reason, (running: TrialFigures, next: TrialFigures) => string>> = {
  errors: (running, next) =>
    `${percent(next.errors)} of its ${next.calls} calls failed, and ${percent(running.errors)} of the ${running.calls} calls of the running one`,
  p99: (running, next) =>
    `its p99 was ${next.p99.toFixed(1)} ms, and that of the running one ${running.p99.toFixed(1)} ms`,
  median: (running, next) =>
    `half of its ${next.calls} calls took more than ${next.median.toFixed(1)} ms, and the p99 of the running one was ${running.p99.toFixed(1)} ms`,
  unanswered: (running, next) =>
    `${percent(next.unanswered)} of its ${next.calls} calls were not answered by the end, and ${percent(running.unanswered)} of the ${running.calls} calls of the running one`,
}

function worse(service: string, text: string): BusbarError {
  return new BusbarError('GENERATION_WORSE', {
    message: `the new generation of service '${service}' is worse than the running one: ${text}`,
    hint: 'Look at the log of its services; the key trial of the config has the limits.',
    service,
  })
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function countersOf(table: InstanceTable, rows: readonly number[], service: string): Counters {
  const times = new Float64Array(bucketCount)
  let [calls, failures, inFlight] = [0, 0, 0]
  for (const row of rows) {
    const cells = table.at(row, service)
    calls += cells.calls
    failures += cells.failures
    inFlight += cells.inFlight
    for (const [bucket, count] of table.readTimes(row, service).entries()) times[bucket]! += count
  }
  return { calls, failures, inFlight, times }
}

function figuresOf(before: Counters, after: Counters): TrialFigures {
  const calls = grown(before.calls, after.calls)
  const share = (count: number): number => (calls === 0 ? 0 : Math.min(1, count / calls))
  const times = after.times.map((count, bucket) => grown(before.times[bucket]!, count))
  const errors = share(grown(before.failures, after.failures))
  const timed = times.reduce((sum, count) => sum + count, 0)
  const at = (part: number): number => quantile(times, part) / 1000
  return { calls, errors, unanswered: share(after.inFlight), timed, median: at(0.5), p99: at(0.99) }
}

/** The row of a worker that has died begins anew. */
function grown(before: number, after: number): number {
  return Math.max(0, after - before)
}
