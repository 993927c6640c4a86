import type { Transferable } from 'node:worker_threads'
import type { Socket } from 'node:net'
import type { FromWorker, ToWorker } from '../../shared/control-messages.ts'
import type { OutputLine } from '../../shared/output/log-levels.ts'
import type { WorkerExit } from '../workers/worker-exit.ts'

/**
 * `full`: no file descriptor is left, in the supervisor or in the worker. `lost`: the worker is
 * about to end.
 */
export type TransferResult = 'taken' | 'full' | 'lost'

/**
 * What a worker runs in: a thread, a process of Node, the process of a command, or a test double's
 * server.
 */
export interface WorkerRuntime {
  /** The operating system's process ID; all threads have the same. */
  readonly pid: number | undefined
  /** The number of transferred connections that have closed; wraps at 32 bits. */
  readonly closed: number
  /** Milliseconds since its last heartbeat. */
  age(now: number): number
  send(order: ToWorker, transfer?: readonly Transferable[]): void
  /** Transfers a connection. The caller keeps one that is not taken. */
  transfer(listenerId: string, socket: Socket): TransferResult
  /**
   * The stack that it executes, while its event loop is blocked; undefined if that cannot be seen.
   */
  stack(): Promise<readonly string[] | undefined>
  /** Ends it at once. Resolves when it has ended; never, if it hangs in a system call. */
  kill(): Promise<unknown>
}

/** The events of a runtime. After `exited` only lines follow. */
export interface RuntimeEvents {
  message(message: FromWorker): void
  /** The cause of an exit that is about to follow. */
  failing(exit: WorkerExit): void
  /** It has stopped running; its exit code and the cause are not known yet. */
  ending(): void
  /** `exit`: what is visible from outside. */
  exited(exit: WorkerExit): void
  /** Output that bypassed the capture per service. `service`: set if the worker hosts only one. */
  line(line: OutputLine, service?: string): void
  /** A transferred connection that it did not take. */
  returned(listenerId: string, socket: Socket): void
}

export type StartRuntime = (events: RuntimeEvents) => WorkerRuntime
