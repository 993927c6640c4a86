/**
 * What costs most of the time of an app's calls, from two readings of its status. A call's duration
 * includes the calls that it causes. So the own time of a service is the time of the calls to it
 * without that of the calls by it; calls that it makes at the same time count one after the other.
 */
import type { AppStatus, EdgeStats } from '../app-status.ts'
import type { StoredTrace } from '../traces/trace-store.ts'
import { slowDelay } from './slow-delay.ts'
import type { SlowPart } from './slow-part.ts'

/** A busier event loop makes calls wait. */
const busy = 0.9

/**
 * `seconds`: between the readings. `traces`: those that began between them. The worst of each kind,
 * the most urgent kind first.
 */
export function findSlowParts(
  before: AppStatus,
  after: AppStatus,
  seconds: number,
  traces: readonly StoredTrace[] = [],
): SlowPart[] {
  const hops = after.edges
    .map((edge) =>
      hopOf(
        edge,
        before.edges.find((one) => isSame(one, edge)),
      ),
    )
    .filter(({ calls }) => calls > 0)
  return [
    ...blocked(after),
    ...waiting(after),
    ...busyLoops(after),
    ...slowService(hops, seconds),
    ...slowHop(hops),
    ...slowDelay(traces),
    ...fromElsewhere(before, after, seconds),
  ]
}

/** The calls of an edge between the readings. */
interface Hop {
  readonly edge: EdgeStats
  readonly calls: number
  /** Of these, the ones whose duration is known. */
  readonly timed: number
  /** Milliseconds of all timed ones together. */
  readonly time: number
}

function hopOf(edge: EdgeStats, before: EdgeStats | undefined): Hop {
  const sumOver = (key: 'timed' | 'sum'): number => {
    const total = (one: EdgeStats | undefined): number => one?.outcomes.reduce((all, each) => all + each[key], 0) ?? 0
    return Math.max(0, total(edge) - total(before))
  }
  return { edge, calls: edge.calls - (before?.calls ?? 0), timed: sumOver('timed'), time: sumOver('sum') }
}

function isSame(one: EdgeStats, other: EdgeStats): boolean {
  return keys.every((key) => one[key] === other[key])
}

const keys = ['caller', 'callee', 'protocol', 'method', 'route', 'transport'] as const

function blocked({ workers, instances }: AppStatus): SlowPart[] {
  return workers
    .filter(({ state }) => state === 'blocked')
    .map(({ worker, name, silentFor }) => {
      const hosted = instances.filter((one) => one.worker === worker).map(({ service }) => service)
      const text = `worker ${name} has been blocked for ${millisecondsText(silentFor ?? 0)}, with ${hosted.join(', ')}`
      return { kind: 'blocked', what: name, text, figures: { blocked: silentFor ?? 0 } }
    })
}

function waiting({ services }: AppStatus): SlowPart[] {
  return services
    .filter((one) => one.waiting > 0)
    .toSorted((one, other) => other.waiting - one.waiting)
    .map(({ service, waiting: calls }) => {
      const text = `${calls === 1 ? '1 call waits' : `${calls} calls wait`} for an instance of ${service} with room: it needs more instances, or a higher concurrency`
      return { kind: 'waiting', what: service, text, figures: { waiting: calls } }
    })
}

function busyLoops({ workers }: AppStatus): SlowPart[] {
  return workers
    .filter(({ state, eventLoopUtilization }) => state === 'serving' && (eventLoopUtilization ?? 0) >= busy)
    .toSorted((one, other) => other.eventLoopUtilization! - one.eventLoopUtilization!)
    .map(({ name, eventLoopUtilization, eventLoopDelay }) => {
      const share = `${Math.round(eventLoopUtilization! * 100)} %`
      const text = `the event loop of worker ${name} is busy ${share} of the time, with delays of up to ${millisecondsText(eventLoopDelay ?? 0)}`
      return { kind: 'loop', what: name, text, figures: { share: eventLoopUtilization!, delay: eventLoopDelay ?? 0 } }
    })
}

function slowService(hops: readonly Hop[], seconds: number): SlowPart[] {
  const own = [...Map.groupBy(hops, ({ edge }) => edge.callee)].map(([service, to]) => {
    const time = sumOf(to, 'time') * ownShare(hops, service)
    return { service, calls: sumOf(to, 'calls'), mean: time / sumOf(to, 'timed'), time }
  })
  const all = own.reduce((sum, { time }) => sum + time, 0)
  const [worst] = own.toSorted((one, other) => other.time - one.time)
  if (worst === undefined || all === 0) return []
  const { service, calls, mean, time } = worst
  const figures = `${Math.round(calls / seconds)} calls a second of ${millisecondsText(mean)}`
  const text = `service ${service} takes ${Math.round((time / all) * 100)} % of the time of all calls: ${figures}, without the calls that it makes`
  const shown = { share: time / all, callsPerSecond: calls / seconds, mean }
  return [{ kind: 'service', what: service, text, figures: shown }]
}

/** The hop whose calls take most time without the calls that their callee makes. */
function slowHop(hops: readonly Hop[]): SlowPart[] {
  const [worst] = hops
    .map((hop) => ({ ...hop, own: hop.time * ownShare(hops, hop.edge.callee) }))
    .filter(({ own }) => own > 0)
    .toSorted((one, other) => other.own - one.own)
  if (worst === undefined) return []
  const { edge, calls, timed, time, own } = worst
  const what = `${edge.caller === '' ? '(outside)' : edge.caller} > ${edge.callee} ${`${edge.method} ${edge.route}`.trim()}`
  const text = `most time is spent in ${what} (${edge.transport}): ${millisecondsText(own / timed)} on average without the calls that ${edge.callee} makes; with them ${millisecondsText(time / timed)}, p99 since the start ${millisecondsText(edge.p99)}`
  return [{ kind: 'hop', what, text, figures: { calls, own: own / timed, mean: time / timed, p99: edge.p99 } }]
}

/** Of a service's calls: both sides of a call are not read at the same moment. */
const readingError = 0.05
/** Seconds between two reports of a process: its counts may be that much older. */
const reportAge = 1

/**
 * Calls of other apps are on the edges of those apps, and those to a port of its own on none. What
 * a process has counted last is lost if it ends: then nobody knows.
 */
function fromElsewhere(before: AppStatus, after: AppStatus, seconds: number): SlowPart[] {
  const processes = [before, after].flatMap(({ workers }) => workers).filter(({ kind }) => kind === 'process')
  const started = new Set(processes.map(({ worker, startedAt }) => `${worker} ${startedAt}`))
  const slots = new Set(processes.map(({ worker }) => worker))
  if (started.size > slots.size) return []
  const error = Math.max(readingError, slots.size === 0 ? 0 : reportAge / seconds)
  return after.services.flatMap(({ service }): SlowPart[] => {
    const begun = begunBy(service, after) - begunBy(service, before)
    const sent = begunOn(service, after) - begunOn(service, before)
    const calls = begun - sent - pendingOf(service, before) + waitingFor(service, after)
    if (calls <= begun * error) return []
    const text = `${calls === 1 ? '1 call' : `${calls} calls`} of ${service} came from elsewhere, from other apps or at a port of its own: the time is not known here`
    return [{ kind: 'elsewhere', what: service, text, figures: { calls } }]
  })
}

/** Calls that its instances have begun. */
function begunBy(service: string, { services }: AppStatus): number {
  return services.find((one) => one.service === service)?.calls ?? 0
}

/**
 * Calls that its edges have begun, and no instance yet: they wait for one with room, are under way,
 * or are queued before an event loop that is blocked.
 */
function pendingOf(service: string, status: AppStatus): number {
  const inFlight = status.edges.filter(({ callee }) => callee === service).reduce((sum, one) => sum + one.inFlight, 0)
  const handled = status.instances.filter((one) => one.service === service).reduce((sum, one) => sum + one.inFlight, 0)
  return Math.max(0, inFlight - handled, waitingFor(service, status))
}

function waitingFor(service: string, { services }: AppStatus): number {
  return services.find((one) => one.service === service)?.waiting ?? 0
}

/** How often its edges have sent a call. */
function begunOn(service: string, { edges }: AppStatus): number {
  return edges
    .filter(({ callee }) => callee === service)
    .reduce((sum, { calls, inFlight, retries }) => sum + calls + inFlight + retries, 0)
}

/**
 * Of the time of the calls to a service: what is not that of the calls by it. The edges do not say
 * which call to it caused which call by it, so each hop to it has the same share.
 */
function ownShare(hops: readonly Hop[], service: string): number {
  const timeOfHops = (end: 'caller' | 'callee'): number => {
    const found = hops.filter(({ edge }) => edge[end] === service)
    return sumOf(found, 'time')
  }
  const time = timeOfHops('callee')
  return time === 0 ? 0 : Math.max(0, 1 - timeOfHops('caller') / time)
}

function sumOf(hops: readonly Hop[], key: 'calls' | 'timed' | 'time'): number {
  return hops.reduce((sum, hop) => sum + hop[key], 0)
}

function millisecondsText(value: number): string {
  return `${Number(value.toPrecision(3))} ms`
}
