/** What a started app shows to whoever started it: the words between the supervisor and the command line. */
import type { ResourceLimits } from 'node:worker_threads'
import type { BusbarError } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { AppStatus } from '../observe/status.ts'
import type { CallAccess } from '../shared/call-access.ts'
import type { InstanceSpec, ListenerSpec, LogRecord, ServiceReport } from '../shared/control.ts'
import type { Place, Plan } from './plan.ts'
import type { Timing } from './timing.ts'
import type { OpenDouble } from './vessels/double.ts'

export interface StartOptions {
  /** In `dev` there is no limit to restarts. */
  readonly mode: 'start' | 'dev'
  /** Gets every line of every program and the supervisor's own; must not throw. */
  readonly log: (record: AppLogRecord) => void
  /** True while the log has enough to write: output is read later. Default: never. */
  readonly isLogBehind?: () => boolean
  readonly on?: (event: AppEvent) => void
  /** Aborts a start that is under way: it rejects with the signal's reason when all is closed. */
  readonly signal?: AbortSignal
  /** The folder for the socket that `busbar ps` asks; there is none when undefined. */
  readonly adminFolder?: string | undefined
  /** The process's working directory stays as it is, also where the app is one program. */
  readonly staysInFolder?: boolean
  /** What answers in the place of services that are marked as doubles. */
  readonly doubles?: ReadonlyMap<string, OpenDouble>
  /** Over the defaults of {@link Timing}; for tests, and for machines where they do not fit. */
  readonly timing?: Partial<Timing>
  /** Of each thread; V8's own defaults when undefined. */
  readonly resourceLimits?: ResourceLimits
  /** Another module for the threads to run than `worker/main`; for tests. */
  readonly workerEntry?: URL
}

export interface RunningApp {
  readonly app: App
  readonly plan: Plan
  /** The open ports, the gateway's first. */
  readonly addresses: readonly OpenAddress[]
  /** One for each worker of the app, as it is now. */
  readonly workers: readonly WorkerStatus[]
  /** What `busbar ps` shows and metrics say, as it is now. */
  status(): AppStatus
  /** Where others can ask for it: `unix:/run/user/1000/busbar/….sock`, `http://127.0.0.1:9464`. */
  readonly adminUrls: readonly string[]
  /** How a process outside of the workers calls services by name. */
  readonly calls: CallAccess
  /**
   * Stops accepting, finishes what is in flight, stops the services in reverse order of `needs`: all within
   * `app.stopTimeout`, after which threads are ended. Never rejects; the second call returns the first's promise.
   */
  stop(): Promise<void>
  /**
   * Replaces workers by new ones, each of which takes over before the old one drains; listeners stay open throughout.
   * `next` is the app as its config says now; see `canRestartInto`. `services`: only the workers that host one of these.
   * Rejects with the service's error when a new worker cannot start: the old ones go on serving.
   */
  restart(next?: App, services?: readonly string[]): Promise<void>
  /**
   * Threads that could not be ended since they hang in a blocking system call (`execSync`, a FIFO). As long as there
   * are any, `process.exit()` blocks too: only a SIGKILL ends the process.
   */
  readonly hung: number
  /** Settles once, when nothing runs any more; never rejects. */
  readonly ended: Promise<EndReason>
}

export type EndReason = { readonly why: 'stopped' } | { readonly why: 'failed'; readonly error: BusbarError }

/** A {@link ListenerSpec} that is open: `port` is the real one. */
export interface OpenAddress extends ListenerSpec {
  readonly protocol: 'http' | 'https'
  /** For people: `http://127.0.0.1:3043`. */
  readonly url: string
}

export interface AppLogRecord extends LogRecord {
  /** Undefined for the supervisor's own. */
  readonly worker: number | undefined
}

/** Times are milliseconds of `Date.now()`. */
export type WorkerState =
  | { readonly state: 'starting'; readonly since: number }
  | { readonly state: 'serving'; readonly since: number; readonly services: readonly ServiceReport[] }
  | { readonly state: 'draining'; readonly since: number }
  /** Dead; a new one starts at `until`. */
  | { readonly state: 'waiting'; readonly until: number }
  /** Died more than `maxRestarts` times in a row: the app ends. */
  | { readonly state: 'givenUp'; readonly error: BusbarError }
  | { readonly state: 'stopped' }

export type WorkerStatus = WorkerState & {
  /** The number of its place. */
  readonly worker: number
  /** For people: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: Place['kind']
  readonly hosts: readonly InstanceSpec[]
  /** Of the system: all threads have the same. */
  readonly pid: number | undefined
  /** Of the worker that fills the place, in the memory of all; undefined before the first. */
  readonly row: number | undefined
  /** How often it died and was started again; a `restart()` does not count. */
  readonly deaths: number
  readonly lastExit: WorkerExit | undefined
  /** Open connections that it was handed; 0 under `accept: 'reusePort'`. */
  readonly connections: number
  /** The worker that is ready to take its place, or will be; undefined without one. */
  readonly spare: SpareStatus | undefined
}

export interface SpareStatus {
  readonly state: 'starting' | 'ready'
  /** As of {@link WorkerStatus}. */
  readonly row: number
}

/**
 * Why a worker ended. `signal`: from outside the program, as by `kill -9`; `overdue`: with a call that did not stop, and is
 * all that was lost.
 */
export interface WorkerExit {
  readonly why:
    | 'exception'
    | 'rejection'
    | 'exit'
    | 'signal'
    | 'memory'
    | 'stuck'
    | 'overdue'
    | 'start'
    | 'stop'
    | 'unknown'
  /** The service whose code did it, where known. */
  readonly service: string | undefined
  readonly error: BusbarError | undefined
  /** One sentence without the worker's number. */
  readonly text: string
}

export type AppEvent =
  | { readonly type: 'worker'; readonly worker: WorkerStatus }
  | { readonly type: 'tls'; readonly outcome: 'reloaded' | 'refused' }
