import type { LoadJob, LoadRequest } from '../engine/job.ts'
import { load, type Engine, type Loaded } from '../engine/load.ts'
import { watchDisturbance, type Disturbance } from '../machine/disturbance.ts'
import { canReadProcesses, cpuSecondsOf, usageOf, type Usage } from '../machine/processes.ts'
import { summariseSamples, type RuntimeUsage } from '../machine/samples.ts'
import type { RunningArm } from './running-arm.ts'

/** The load: the same for all arms that are compared. */
export interface Work {
  readonly connections: number
  readonly pipelining?: number
  readonly reconnect?: boolean
  /** Sent in turn. */
  readonly requests: readonly [LoadRequest, ...LoadRequest[]]
  /** How often each request is sent in a turn. Default: once. */
  readonly weights?: readonly number[]
  /** Requests per second, with Poisson arrivals. Undefined: a closed loop. */
  readonly rate?: number
  readonly timeoutMs?: number
  readonly graceMs?: number
  /** A fixed number of requests instead of a duration, for jobs. */
  readonly runs?: number
  readonly probe?: Probe
  /** Calls that a request makes, if these are the work that has to be warm. Default: 1. */
  readonly calls?: number
}

/**
 * Requests at a fixed rate from a second engine during the load: how the load affects other
 * clients.
 */
export interface Probe {
  readonly request: LoadRequest
  /** Requests per second, evenly spaced. */
  readonly rate: number
}

export interface Slice extends Loaded {
  readonly disturbance: Disturbance
  /** Cores kept busy by other programs. Undefined if unknown. */
  readonly otherCores: number | undefined
  /** CPU seconds of the arm's processes, including the discarded start. Undefined if unknown. */
  readonly serverCpuSeconds: number | undefined
  /** Requests answered, including the discarded start. */
  readonly answered: number
  readonly memory: Usage | undefined
  /** Samples of its Node programs. Undefined without any. */
  readonly runtime: RuntimeUsage | undefined
  readonly probe: Loaded | undefined
  /** If the load was on and off: each time that it was on. */
  readonly pulses?: readonly PulseCost[]
  /** In pulses: CPU seconds of each thread of its Node programs. */
  readonly threadSeconds?: readonly number[]
}

export interface PulseCost {
  readonly done: number
  readonly seconds: number
  readonly cpuSeconds: number | undefined
}

export interface SliceOptions {
  readonly engine: Engine
  readonly durationMs: number
  readonly discardMs: number
  readonly seed: number
  /** The processor to which the load engine is pinned. */
  readonly generatorCpu: number | undefined
  readonly signal?: AbortSignal
}

/** Applies the load to a running arm, and measures what it costs. */
export async function runSlice(running: RunningArm, work: Work, options: SliceOptions): Promise<Slice> {
  const since = await watchDisturbance()
  const ownSince = process.cpuUsage()
  const from = Date.now()
  const before = canReadProcesses ? cpuSecondsOf(running.session) : undefined
  const [loaded, probe] = await Promise.all([
    load(options.engine, await toJob(running, work, options), options.signal),
    // Autocannon cannot send at a fixed rate.
    work.probe &&
      options.engine.kind === 'busbar-load' &&
      load(options.engine, await toProbe(running, work.probe, options), options.signal),
  ])
  const after = canReadProcesses ? cpuSecondsOf(running.session) : undefined
  const disturbance = await since()
  const serverCpuSeconds = before === undefined || after === undefined ? undefined : after - before
  const statuses = Object.values(loaded.result.statuses)
  return {
    ...loaded,
    disturbance,
    otherCores: otherCores(disturbance, serverCpuSeconds, [loaded, probe || undefined], process.cpuUsage(ownSince)),
    serverCpuSeconds,
    answered: statuses.reduce((sum, count) => sum + count, 0),
    runtime: summariseSamples(await running.samples(), from, Date.now()),
    memory: canReadProcesses ? usageOf(running.session, { memory: true }) : undefined,
    probe: probe || undefined,
  }
}

/** CPU cores kept busy by the arm. */
export function coresOf({ serverCpuSeconds, ...slice }: Slice): number | undefined {
  return serverCpuSeconds === undefined ? undefined : serverCpuSeconds / ranFor(slice)
}

/** CPU cores kept busy by the load engine. */
export function generatorCoresOf(slice: Slice): number {
  return generatorSeconds(slice) / ranFor(slice)
}

/**
 * Seconds since the first request, including the discarded start. A short job ends before the first
 * tick.
 */
function ranFor({ ticks, result }: Pick<Slice, 'ticks' | 'result'>): number {
  return Math.max(ticks.at(-1)?.at ?? 0, result.seconds, 0.001)
}

function generatorSeconds({ result: { generator } }: Loaded): number {
  return generator.userSeconds + generator.systemSeconds
}

/** `server`: CPU seconds of the arms that ran in the meantime. `own`: of this process. */
export function otherCores(
  { busySeconds, seconds }: Disturbance,
  server: number | undefined,
  loads: readonly (Loaded | undefined)[],
  own: NodeJS.CpuUsage,
): number | undefined {
  if (server === undefined || seconds === 0) return undefined
  const generators = loads.reduce((sum, each) => sum + (each === undefined ? 0 : generatorSeconds(each)), 0)
  return Math.max(0, busySeconds - server - generators - (own.user + own.system) / 1e6) / seconds
}

export async function toJob(
  running: RunningArm,
  work: Work,
  options: SliceOptions,
  load = toLoad(work, options.durationMs),
): Promise<LoadJob> {
  return {
    target: await running.loadTarget(),
    requests: inTurn(work),
    load,
    connections: work.connections,
    discardMs: work.runs === undefined ? options.discardMs : 0,
    seed: options.seed,
    ...(options.generatorCpu !== undefined && { cpu: options.generatorCpu }),
    ...(work.pipelining !== undefined && { pipelining: work.pipelining }),
    ...(work.reconnect !== undefined && { reconnect: work.reconnect }),
    ...(work.timeoutMs !== undefined && { timeoutMs: work.timeoutMs }),
    graceMs: work.graceMs ?? graceOf(work),
  }
}

/**
 * The requests of one turn, evenly mixed: each next one is that which is furthest behind its
 * weight.
 */
export function inTurn({ requests, weights = [] }: Pick<Work, 'requests' | 'weights'>): LoadRequest[] {
  const wanted = requests.map((_, index) => weights[index] ?? 1)
  const total = wanted.reduce((sum, weight) => sum + weight, 0)
  const credit = wanted.map(() => 0)
  return Array.from({ length: total }, () => {
    for (const [index, weight] of wanted.entries()) credit[index]! += weight
    const next = credit.indexOf(Math.max(...credit))
    credit[next]! -= total
    return requests[next]!
  })
}

/**
 * How long to wait for requests in flight after the end. In a closed loop they are answered soon,
 * or stall and must time out to be counted. At a fixed rate they may exceed what the server can do,
 * so the wait is shorter.
 */
function graceOf({ rate, timeoutMs = 10_000 }: Work): number {
  return rate === undefined ? timeoutMs + 500 : 2000
}

function toLoad({ runs, rate }: Work, durationMs: number): LoadJob['load'] {
  if (runs !== undefined) return { loop: 'closed', requests: runs }
  if (rate !== undefined) return { loop: 'open', durationMs, rate, arrivals: 'poisson' }
  return { loop: 'closed', durationMs }
}

async function toProbe(running: RunningArm, probe: Probe, options: SliceOptions): Promise<LoadJob> {
  return {
    target: await running.loadTarget(),
    requests: [probe.request],
    load: { loop: 'open', durationMs: options.durationMs, rate: probe.rate, arrivals: 'constant' },
    // One per request due in a second, so that no request waits for another on its connection.
    connections: Math.ceil(probe.rate),
    discardMs: options.discardMs,
    ...(options.generatorCpu !== undefined && { cpu: options.generatorCpu }),
  }
}
