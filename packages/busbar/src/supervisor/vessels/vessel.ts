import type { Transferable } from 'node:worker_threads'
import type { FromWorker, LogRecord, ToWorker } from '../../shared/control.ts'
import type { TcpHandle } from '../../shared/port.ts'
import type { WorkerExit } from '../running.ts'

/** What a worker runs in: a thread, a process, or the process of a command. */
export interface Vessel {
  /** Of the operating system; a thread has that of all. */
  readonly pid: number | undefined
  /** Connections that it was handed and has seen close; wraps at 32 bits. */
  readonly closed: number
  /** Milliseconds since its event loop last turned. */
  age(now: number): number
  send(order: ToWorker, transfer?: readonly Transferable[]): void
  /** Gives it a connection. False: it was not taken, and is still the caller's. */
  hand(listener: string, handle: TcpHandle): boolean
  /** Ends it at once. Resolves when it has ended, which may be never. */
  kill(): Promise<unknown>
}

/** What a vessel tells of itself; after `exited` nothing but lines, and `gone`. */
export interface VesselEvents {
  message(message: FromWorker): void
  /** Something that explains the end which will come. */
  failing(exit: WorkerExit): void
  /** `exit` is what shows from outside. */
  exited(exit: WorkerExit): void
  /** What was written past every service's scope; `service` where there is only one. */
  line(text: string, stream: LogRecord['stream'], service?: string): void
  /** A connection that it was handed and never took. */
  returned(listener: string, handle: TcpHandle): void
}

export type Launch = (events: VesselEvents) => Vessel
