/**
 * The interface between the supervisor and the code that starts an app: the command line, `embed`,
 * tests.
 */
import type { ResourceLimits } from 'node:worker_threads'
import type { BusbarError } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { Placements } from '../config/load.ts'
import type { AppStatus } from '../observe/app-status.ts'
import type { RecentLog } from '../observe/recent-log.ts'
import type { CallAccess } from '../shared/calls/call-access.ts'
import type { ListenerSpec, LogRecord, Readiness } from '../shared/control-messages.ts'
import type { EntranceLibrary } from '../shared/entrance/entrance.ts'
import type { Change, InstanceCount, MoveTarget, Outdated, Relocation } from './generations/changes.ts'
import type { Plan } from './plan.ts'
import type { OpenTestDouble } from './runtimes/test-double.ts'
import type { Timing } from './timing.ts'
import type { WorkerStatus } from './workers/worker-status.ts'

export interface StartOptions {
  /** `dev` ignores `maxRestarts`. */
  readonly mode: 'start' | 'dev'
  /** Receives every line that programs and the supervisor write; must not throw. */
  readonly log: (record: AppLogRecord) => void
  /**
   * Loads the config again, for `reload`, `scale` and `move`. `placements`: what these have
   * changed, which overrides the config. Without it the app cannot do any of them.
   */
  readonly load?: (placements: Placements) => Promise<App>
  /**
   * Log backpressure: while true, the supervisor stops reading the output of workers. Default:
   * never.
   */
  readonly isLogBehind?: () => boolean
  /** Opens an inspector in each worker, or in those of one service. */
  readonly inspect?: { readonly service: string | undefined }
  readonly on?: (event: AppEvent) => void
  /** Aborts a start: `startApp` rejects with the signal's reason after everything has closed. */
  readonly signal?: AbortSignal
  /** The folder of the admin socket that commands connect to; undefined for no socket. */
  readonly adminFolder?: string | undefined
  /** Where the state of the schedule is kept; undefined: the schedule of the app does not run. */
  readonly stateFolder?: string | undefined
  /** Opens one more admin port for this run alone, on the loopback interface: for the dashboard. */
  readonly page?: PagePort | undefined
  /** The log's last lines, which the admin API reads. */
  readonly recentLog?: RecentLog
  /** The command line that started the app. Undefined: a program did, by `startApp`. */
  readonly command?: StartCommand
  /**
   * Reads the config, then begins to stop and start the whole app. Rejects if the config is wrong.
   */
  readonly requestRestart?: () => Promise<void>
  /** Ends the command that runs the app, when the admin API asks for it. Default: `stop()`. */
  readonly requestStop?: () => void
  /** Keeps the working directory of the process, even if the app is a single program. */
  readonly staysInFolder?: boolean
  /**
   * Finds the native entrance, for an app that uses it. Throws ENTRANCE_UNAVAILABLE. Without it,
   * such an app does not start.
   */
  readonly entrance?: () => EntranceLibrary
  /** Test doubles by the names of the services that they replace. */
  readonly doubles?: ReadonlyMap<string, OpenTestDouble>
  /**
   * Overrides the defaults of {@link Timing}; for tests, and for machines that need other values.
   */
  readonly timing?: Partial<Timing>
  /** Limits of each thread. Default: V8's own. */
  readonly resourceLimits?: ResourceLimits
  /** The module that threads run instead of `worker/main`; for tests. */
  readonly workerEntry?: URL
}

export interface PagePort {
  /** 0 selects a free one. */
  readonly port: number
  readonly token: string
}

export interface StartCommand {
  /** The arguments after `busbar start`, with an absolute path. */
  readonly args: readonly string[]
  /** The working directory. */
  readonly folder: string
  /** `busbar start -d`: no terminal and no other process waits for it. */
  readonly isDetached: boolean
}

export interface RunningApp {
  readonly app: App
  readonly plan: Plan
  /** The open ports, the gateway's first. */
  readonly addresses: readonly OpenAddress[]
  /** The current state of each slot. */
  readonly workers: readonly WorkerStatus[]
  /** What its probes answer. */
  readonly readiness: Readiness
  /** The current state that `busbar ps` and the metrics show. */
  status(): AppStatus
  /**
   * Where the admin listener answers: `unix:/run/user/1000/busbar/….sock`, `http://127.0.0.1:9464`.
   */
  readonly adminUrls: readonly string[]
  /** The port of {@link StartOptions.page}, without its token. */
  readonly pageUrl: string | undefined
  /** How a process outside of the workers calls services by name. */
  readonly calls: CallAccess
  /**
   * Stops accepting, finishes in-flight requests, and stops the services in reverse order of
   * `needs`. Ends what still runs after `app.stopTimeout`. Never rejects; the second call returns
   * the promise of the first.
   */
  stop(): Promise<void>
  /**
   * Starts the workers of the next generation, which take over before the old ones drain. Listeners
   * stay open. `next`: the app as its config is now; what differs is applied. `outdated`: the
   * services whose workers are replaced besides. Rejects with RESTART_NEEDED before anything has
   * changed, or with the service's error when a new worker cannot start; the running generation
   * stays.
   */
  replace(next?: App, outdated?: Outdated): Promise<Change>
  /**
   * Reads the config again, applies what differs, and replaces the workers of the service, or of
   * all services, so that they run their current code. Rejects as {@link replace}.
   */
  reload(service?: string): Promise<Change>
  /**
   * Changes how many instances the service has; for a shared service, how many shared workers there
   * are. It stays so until the app is restarted.
   */
  scale(service: string, instances: InstanceCount): Promise<Change>
  /** Changes where the service runs. It stays so until the app is restarted. */
  move(service: string, to: MoveTarget): Promise<Change>
  /** Moves services in one change. The result takes them back to exactly where they were. */
  moveTogether(moves: readonly Relocation[]): Promise<() => Promise<Change>>
  /**
   * The number of threads that could not be ended because they hang in a blocking system call
   * (`execSync`, a FIFO). While there are any, `process.exit()` blocks too: only SIGKILL ends the
   * process.
   */
  readonly hung: number
  /** Settles once, when nothing runs any more; never rejects. */
  readonly ended: Promise<EndReason>
}

export type EndReason = { readonly why: 'stopped' } | { readonly why: 'failed'; readonly error: BusbarError }

/** An open listener; `port` is the real port. */
export interface OpenAddress extends ListenerSpec {
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls'
  /** Human-readable: `http://127.0.0.1:3043`. */
  readonly url: string
}

export interface AppLogRecord extends LogRecord {
  /** The index of the worker's slot; undefined for the supervisor's own lines. */
  readonly worker: number | undefined
}

export type AppEvent =
  | { readonly type: 'worker'; readonly worker: WorkerStatus }
  | { readonly type: 'tls'; readonly outcome: 'reloaded' | 'refused' }
