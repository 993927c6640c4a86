import type { LoadJob, LoadRequest } from '../engine/job.ts'
import { load, type Loaded } from '../engine/load.ts'
import { watchDisturbance, type Disturbance } from '../machine/disturbance.ts'
import { canReadProcesses, cpuSecondsOf, usageOf, type Usage } from '../machine/processes.ts'
import type { Copy } from './copy.ts'

/** What is sent to an arm: the same for all that are compared. */
export interface Work {
  readonly connections: number
  readonly pipelining?: number
  readonly reconnect?: boolean
  readonly requests: readonly LoadRequest[]
  /** Requests a second by a Poisson clock; absent for a closed loop. */
  readonly rate?: number
  readonly timeoutMs?: number
  readonly graceMs?: number
}

export interface Slice extends Loaded {
  readonly disturbance: Disturbance
  /** CPU that the arm's processes took while it was loaded, the discarded start included. Undefined where unknown. */
  readonly serverCpuSeconds: number | undefined
  /** Requests answered in that time, the discarded start included: what the CPU was spent on. */
  readonly answered: number
  readonly memory: Usage | undefined
}

export interface SliceOptions {
  readonly engine: string
  readonly durationMs: number
  readonly discardMs: number
  readonly seed: number
  readonly signal?: AbortSignal
}

/** Loads one copy for a moment and reads what that cost. */
export async function runSlice(copy: Copy, work: Work, options: SliceOptions): Promise<Slice> {
  const since = await watchDisturbance()
  const before = canReadProcesses ? await cpuSecondsOf(copy.session) : undefined
  const loaded = await load(options.engine, await toJob(copy, work, options), options.signal)
  const after = canReadProcesses ? await cpuSecondsOf(copy.session) : undefined
  const statuses = Object.values(loaded.result.statuses)
  return {
    ...loaded,
    disturbance: await since(),
    serverCpuSeconds: before === undefined || after === undefined ? undefined : after - before,
    answered: statuses.reduce((sum, count) => sum + count, 0),
    memory: canReadProcesses ? await usageOf(copy.session, { memory: true }) : undefined,
  }
}

async function toJob(copy: Copy, work: Work, options: SliceOptions): Promise<LoadJob> {
  const durationMs = options.durationMs
  return {
    target: await copy.loadTarget(),
    requests: [...work.requests],
    load:
      work.rate === undefined
        ? { loop: 'closed', durationMs }
        : { loop: 'open', durationMs, rate: work.rate, arrivals: 'poisson' },
    connections: work.connections,
    discardMs: options.discardMs,
    seed: options.seed,
    ...(work.pipelining !== undefined && { pipelining: work.pipelining }),
    ...(work.reconnect !== undefined && { reconnect: work.reconnect }),
    ...(work.timeoutMs !== undefined && { timeoutMs: work.timeoutMs }),
    ...(work.graceMs !== undefined && { graceMs: work.graceMs }),
  }
}
