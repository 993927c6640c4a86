import type { AcceleratorState } from '../shared/accelerators.ts'

/**
 * The app as it is at one moment: what `GET /status` answers and `busbar ps --json` prints. Keys are only ever added.
 * Counts are totals since the app's start, whatever workers came and went; times are milliseconds, sizes bytes.
 */
export interface AppStatus {
  readonly app: {
    readonly name: string
    readonly root: string
    /** Of the supervisor. */
    readonly pid: number
    /** Of `Date.now()`. */
    readonly startedAt: number
    /** Whether each service has an instance that serves, and the gateway a worker. */
    readonly ready: boolean
    /** The services of which no instance serves; `gateway` stands for the gateway. */
    readonly unready: readonly string[]
  }
  /** Empty until the first worker has looked what works here. */
  readonly accelerators: readonly AcceleratorState[]
  readonly workers: readonly WorkerFigures[]
  /** In the app's order, as `instances`. */
  readonly services: readonly ServiceFigures[]
  readonly instances: readonly InstanceFigures[]
  /** By caller and callee. */
  readonly calls: readonly CallFigures[]
}

/** One place of the app, and the worker in it. */
export interface WorkerFigures {
  /** The number of its place. */
  readonly worker: number
  /** For people: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: 'shared' | 'thread' | 'process' | 'command'
  /** `blocked`: it serves, but its event loop does not turn. */
  readonly state: 'starting' | 'serving' | 'blocked' | 'draining' | 'waiting' | 'givenUp' | 'stopped'
  /** Of the system: all threads have the same. */
  readonly pid: number | null
  /** How often it died and was started again. */
  readonly restarts: number
  /** While it waits to be started again: in how many milliseconds. */
  readonly startsIn: number | null
  readonly lastExit: ExitFigures | null
  /** Open connections that it was handed. */
  readonly connections: number
  /** Requests that the gateway has in flight there. */
  readonly requests: number
  /** How long ago its event loop last turned. */
  readonly silentFor: number | null
  /** Processor time since the worker's start. */
  readonly cpuTime: number | null
  /** Processors used, on average over the last second: 1 is all of one. */
  readonly cpu: number | null
  /** The part of the last second that its event loop was busy, 0 to 1. */
  readonly eventLoopUtilization: number | null
  readonly heapUsed: number | null
  /** Of a thread its heap and what hangs on it, of a process all. */
  readonly memory: number | null
  /** The thread that is ready to take the place, or will be. */
  readonly spare: SpareFigures | null
}

export interface SpareFigures {
  readonly state: 'starting' | 'ready'
  readonly memory: number | null
}

export interface ExitFigures {
  readonly why: string
  readonly service: string | null
  /** One sentence. */
  readonly text: string
}

export interface InstanceFigures {
  readonly service: string
  /** Which of the service's instances, from 0. */
  readonly instance: number
  /** Where it runs: {@link WorkerFigures.worker}. */
  readonly worker: number
  readonly state: WorkerFigures['state']
  readonly inFlight: number
  readonly calls: number
  /** Calls that got no answer, or one that says the fault is the service's. */
  readonly failures: number
  /** Over the last second. */
  readonly callsPerSecond: number
}

export interface ServiceFigures {
  readonly service: string
  /** Calls that wait for an instance with room. */
  readonly waiting: number
  /** Calls that were refused since too many were waiting. */
  readonly shed: number
}

export interface CallFigures {
  /** '' for what comes from outside, '*' where there were too many pairs to tell apart. */
  readonly caller: string
  readonly callee: string
  readonly count: number
  /** In milliseconds, of all together. */
  readonly sum: number
  /** In milliseconds: so long, at most, took so many of a hundred. */
  readonly p50: number
  readonly p99: number
  /** Calls that took at most `le` milliseconds, those of all shorter ones included; the last is for all. */
  readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
}
