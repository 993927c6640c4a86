import type { LoadJob, LoadRequest } from '../engine/job.ts'
import { load, type Engine, type Loaded } from '../engine/load.ts'
import { watchDisturbance, type Disturbance } from '../machine/disturbance.ts'
import { canReadProcesses, cpuSecondsOf, usageOf, type Usage } from '../machine/processes.ts'
import { useWithin, type RuntimeUse } from '../machine/samples.ts'
import type { Copy } from './copy.ts'

/** What is sent to an arm: the same for all that are compared. */
export interface Work {
  readonly connections: number
  readonly pipelining?: number
  readonly reconnect?: boolean
  readonly requests: readonly [LoadRequest]
  /** Requests a second by a Poisson clock; absent for a closed loop. */
  readonly rate?: number
  readonly timeoutMs?: number
  readonly graceMs?: number
  /** The slice is so many requests, however long they take: whole runs of a job instead of a load for a time. */
  readonly runs?: number
  readonly probe?: Probe
}

/** Asked beside the load by a clock, from an engine of its own: what the load does to the arm's other clients. */
export interface Probe {
  readonly request: LoadRequest
  /** Requests a second, evenly spaced. */
  readonly rate: number
}

export interface Slice extends Loaded {
  readonly disturbance: Disturbance
  /** Cores that were busy with neither the arm nor the lab. Undefined where unknown. */
  readonly otherCores: number | undefined
  /** CPU that the arm's processes took while it was loaded, the discarded start included. Undefined where unknown. */
  readonly serverCpuSeconds: number | undefined
  /** Requests answered in that time, the discarded start included: what the CPU was spent on. */
  readonly answered: number
  readonly memory: Usage | undefined
  /** What its Node programs say of themselves; undefined where there are none. */
  readonly runtime: RuntimeUse | undefined
  readonly probe: Loaded | undefined
}

export interface SliceOptions {
  readonly engine: Engine
  readonly durationMs: number
  readonly discardMs: number
  readonly seed: number
  /** The processor that the engine stays on. */
  readonly generatorCpu: number | undefined
  readonly signal?: AbortSignal
}

/** Loads one copy for a moment and reads what that cost. */
export async function runSlice(copy: Copy, work: Work, options: SliceOptions): Promise<Slice> {
  const since = await watchDisturbance()
  const ownSince = process.cpuUsage()
  const from = Date.now()
  const before = canReadProcesses ? await cpuSecondsOf(copy.session) : undefined
  const [loaded, probe] = await Promise.all([
    load(options.engine, await toJob(copy, work, options), options.signal),
    // The fallback knows no clock.
    work.probe &&
      options.engine.kind === 'busbar-load' &&
      load(options.engine, await toProbe(copy, work.probe, options), options.signal),
  ])
  const after = canReadProcesses ? await cpuSecondsOf(copy.session) : undefined
  const disturbance = await since()
  const serverCpuSeconds = before === undefined || after === undefined ? undefined : after - before
  const statuses = Object.values(loaded.result.statuses)
  return {
    ...loaded,
    disturbance,
    otherCores: otherCores(disturbance, serverCpuSeconds, [loaded, probe || undefined], process.cpuUsage(ownSince)),
    serverCpuSeconds,
    answered: statuses.reduce((sum, count) => sum + count, 0),
    runtime: useWithin(await copy.samples(), from, Date.now()),
    memory: canReadProcesses ? await usageOf(copy.session, { memory: true }) : undefined,
    probe: probe || undefined,
  }
}

/** CPU cores that the arm's processes kept busy. */
export function coresOf({ serverCpuSeconds, ...slice }: Slice): number | undefined {
  return serverCpuSeconds === undefined ? undefined : serverCpuSeconds / ranFor(slice)
}

/** CPU cores that the load engine kept busy. */
export function generatorCoresOf(slice: Slice): number {
  return generatorSeconds(slice) / ranFor(slice)
}

/** Seconds from the first request on, those that are discarded included; a short job ends before the first tick. */
function ranFor({ ticks, result }: Pick<Slice, 'ticks' | 'result'>): number {
  return Math.max(ticks.at(-1)?.at ?? 0, result.seconds, 0.001)
}

function generatorSeconds({ result: { generator } }: Loaded): number {
  return generator.userSeconds + generator.systemSeconds
}

function otherCores(
  { busySeconds, seconds }: Disturbance,
  server: number | undefined,
  loads: readonly (Loaded | undefined)[],
  own: NodeJS.CpuUsage,
): number | undefined {
  if (server === undefined || seconds === 0) return undefined
  const generators = loads.reduce((sum, each) => sum + (each === undefined ? 0 : generatorSeconds(each)), 0)
  return Math.max(0, busySeconds - server - generators - (own.user + own.system) / 1e6) / seconds
}

async function toJob(copy: Copy, work: Work, options: SliceOptions): Promise<LoadJob> {
  return {
    target: await copy.loadTarget(),
    requests: [...work.requests],
    load: toLoad(work, options.durationMs),
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
 * Nothing new comes after the end of a closed loop, so what is in flight is answered soon, or is a stall that must run
 * into its time-out to be found. A clock's requests may be more than the server can do, and are not waited for so long.
 */
function graceOf({ rate, timeoutMs = 10_000 }: Work): number {
  return rate === undefined ? timeoutMs + 500 : 2000
}

function toLoad({ runs, rate }: Work, durationMs: number): LoadJob['load'] {
  if (runs !== undefined) return { loop: 'closed', requests: runs }
  if (rate !== undefined) return { loop: 'open', durationMs, rate, arrivals: 'poisson' }
  return { loop: 'closed', durationMs }
}

async function toProbe(copy: Copy, probe: Probe, options: SliceOptions): Promise<LoadJob> {
  return {
    target: await copy.loadTarget(),
    requests: [probe.request],
    load: { loop: 'open', durationMs: options.durationMs, rate: probe.rate, arrivals: 'constant' },
    // As many as fall due in a second: a server that stops for less delays them all, and none because of another.
    connections: Math.ceil(probe.rate),
    discardMs: options.discardMs,
    ...(options.generatorCpu !== undefined && { cpu: options.generatorCpu }),
  }
}
