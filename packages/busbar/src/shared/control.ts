/** What the supervisor and its workers say to each other, over the port that comes with every worker thread. */
import type { Socket } from 'node:net'
import type { ErrorRecord } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { TcpHandle } from './port.ts'

/** What a worker is born with (`workerData`). */
export interface WorkerInit {
  readonly app: App
  /** Its number in logs: 0 to `app.workers` - 1, the same for a worker and for the one that replaces it. */
  readonly worker: number
  readonly cells: SharedArrayBuffer
  /** Its row in the cells, its own as long as the thread lives. */
  readonly row: number
  readonly listeners: readonly ListenerSpec[]
  /** PEM contents of the gateway's certificate and key. */
  readonly tls: TlsMaterial | undefined
  /** In `dev` typed services copy what they are given and what they return. */
  readonly mode: 'start' | 'dev'
}

export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  /** 48 bytes that all workers share, so that a session ticket is good at any of them. */
  readonly ticketKeys: Uint8Array
}

/** A public port: the gateway's, or one that a service exposes. */
export interface ListenerSpec {
  /** `gateway`, `expose:<service>`, and where that has more than one, `expose:<service>:2`. */
  readonly id: string
  readonly host: string
  /** As the config says until it is open, afterwards the real one: a worker that listens itself never sees 0. */
  readonly port: number
  readonly serves: { readonly kind: 'gateway' } | { readonly kind: 'service'; readonly service: string }
}

export type ToWorker =
  /** A socket where raw handles cannot be handed over (Windows). */
  | { type: 'connection'; listener: string; connection: TcpHandle | Socket }
  | { type: 'tls'; tls: TlsMaterial }
  /** Finish what is in flight, run the programs' own signal handlers, stop them in reverse order of `needs`. */
  | { type: 'stop'; timeout: number }

export type FromWorker =
  /** Said before a program is loaded, so that one that blocks its thread for ever can be named. */
  | { type: 'starting'; service: string }
  | { type: 'started'; service: string }
  /** Every service answers, and under `accept: 'reusePort'` the worker's own listeners are open. */
  | { type: 'ready'; services: ServiceReport[] }
  | { type: 'failed'; error: ErrorRecord }
  | { type: 'log'; records: LogRecord[] }
  /** A service's uncaught exception, unhandled rejection or exit, said before the thread ends. */
  | { type: 'fault'; service: string | undefined; reason: 'exception' | 'rejection' | 'exit'; error: ErrorRecord }
  | { type: 'stopped' }

export interface ServiceReport {
  readonly name: string
  /** What the program asked to listen on, though no port was opened. */
  readonly listens: string
  readonly startedIn: number
  readonly warnings: readonly string[]
}

/** One line that a program wrote, or one event of the worker itself. */
export interface LogRecord {
  readonly time: number
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  /** Undefined for Busbar's own. */
  readonly service: string | undefined
  readonly stream: 'stdout' | 'stderr' | 'busbar'
  /** Without its newline. */
  readonly line: string
}
