import type { Transferable } from 'node:worker_threads'
import type { Socket } from 'node:net'
import type { FromWorker, LogRecord, ToWorker } from '../../shared/control.ts'
import type { WorkerExit } from '../running.ts'

/** `full`: it lives, and descriptors are lacking, here or there. `lost`: it is about to end. */
export type Handed = 'taken' | 'full' | 'lost'

/** What a worker runs in: a thread, a process, or the process of a command. */
export interface Vessel {
  /** Of the operating system; a thread has that of all. */
  readonly pid: number | undefined
  /** Connections that it was handed and has seen close; wraps at 32 bits. */
  readonly closed: number
  /** Milliseconds since its event loop last turned. */
  age(now: number): number
  send(order: ToWorker, transfer?: readonly Transferable[]): void
  /** Gives it a connection; one that it does not take is still the caller's. */
  hand(listener: string, socket: Socket): Handed
  /** Ends it at once. Resolves when it has ended, which may be never. */
  kill(): Promise<unknown>
}

/** What a vessel tells of itself; after `exited` nothing but lines, and `gone`. */
export interface VesselEvents {
  message(message: FromWorker): void
  /** Something that explains the end which will come. */
  failing(exit: WorkerExit): void
  /** It runs no more, though its exit and the reason of that are not known yet. */
  ending(): void
  /** `exit` is what shows from outside. */
  exited(exit: WorkerExit): void
  /** What was written past every service's scope; `service` where there is only one. */
  line(text: string, stream: LogRecord['stream'], level: LogRecord['level'], service?: string): void
  /** A connection that it was handed and did not take. */
  returned(listener: string, socket: Socket): void
}

export type Launch = (events: VesselEvents) => Vessel
