/// <reference lib="esnext.disposable" preserve="true" />
import { availableParallelism } from 'node:os'
import { BusbarError } from '../contract/errors.ts'
import { prepareSegment } from '../shared/state/segment.ts'
import { boundedTogether, unbounded } from './bound.ts'
import { OffloadCall } from './call.ts'
import { moduleOf } from './module.ts'
import { Pool } from './pool.ts'
import type { Movable } from './movable.ts'

export interface OffloadOptions {
  /**
   * Milliseconds from the call on, waiting included. A task that has not begun by then never does; one that has is
   * told by its `signal`, and ended with its thread when its pool's `grace` is over. Without it, for ever.
   */
  readonly timeout?: number | undefined
  /** Ends the call at once: a task that waits never begins, one that has begun is told, and ended as above. */
  readonly signal?: AbortSignal | undefined
  /** The higher, the sooner; 0 without it. */
  readonly priority?: number | undefined
  /** Buffers of the input that are moved instead of copied: afterwards the caller has them no more. */
  readonly transfer?: readonly Movable[] | undefined
}

export interface OffloadPoolOptions {
  /** At most so many; usable processors less one, but at least one. */
  readonly threads?: number | undefined
  /** Calls that may wait for a thread; one more fails at once with `RESOURCE_EXHAUSTED`. 1000 without it. */
  readonly queue?: number | undefined
  /** Milliseconds for which a task that was told to stop may go on before its thread is ended. 500 without it. */
  readonly grace?: number | undefined
  /** Milliseconds after which a thread that has nothing to do is ended; the last one stays. 10 000 without it. */
  readonly idle?: number | undefined
}

/** Runs a module's default export, `(input, { signal, transfer }) => result`, in another thread. */
export interface Offload {
  /**
   * `module` is a URL, mostly `new URL('./task.ts', import.meta.url)`. Input and result are structured clones. Rejects with what the task
   * throws, else with `DEADLINE_EXCEEDED`, `CALL_ABORTED`, `RESOURCE_EXHAUSTED` when too many wait, `WORKER_DIED` when the thread ended under it, and
   * `TASK_INVALID` when the module has no such function or something cannot be cloned.
   */
  <Result = unknown>(module: URL | string, input?: unknown, options?: OffloadOptions): Promise<Result>
}

export interface OffloadPool extends Offload, AsyncDisposable {
  /** Lets what has begun come to its end, fails what waits with `CALL_ABORTED`, and ends the threads. */
  close(): Promise<void>
}

/**
 * Runs it in the pool of this thread, which begins with the first call. All such pools of a process have, together, no more
 * threads than usable processors less one, but each at least one. They do not keep the process alive.
 */
export const offload: Offload = <Result>(module: URL | string, input?: unknown, options?: OffloadOptions) =>
  run<Result>((own ??= createPool()), module, input, options)

let own: Pool | undefined

/** A pool of its own, whose size is as given whatever others there are. */
export function createOffload(options: OffloadPoolOptions = {}): OffloadPool {
  const pool = createPool(options)
  const call: Offload = <Result>(module: URL | string, input?: unknown, options?: OffloadOptions) =>
    run<Result>(pool, module, input, options)
  const close = (): Promise<void> => pool.close()
  return Object.assign(call, { close, [Symbol.asyncDispose]: close })
}

// So that its threads can use `shared`.
prepareSegment()

function createPool({ threads, queue = 1000, grace = 500, idle = 10_000 }: OffloadPoolOptions = {}): Pool {
  for (const [name, value, least] of [
    ['threads', threads ?? 1, 1],
    ['queue', queue, 1],
    ['grace', grace, 0],
    ['idle', idle, 0],
  ] as const)
    if (!Number.isInteger(value) || value < least) throw notCountable(name, value, least)
  const size = threads ?? Math.max(1, availableParallelism() - 1)
  const bound = threads === undefined ? boundedTogether(size) : unbounded
  return new Pool({ size, queue, grace, idle, bound })
}

function notCountable(name: string, value: number, least: number): BusbarError {
  const message = `createOffload() was given ${name}: ${value}`
  return new BusbarError('TASK_INVALID', { message, hint: `${name} is a whole number from ${least} up` })
}

/** The caller says what it gets, as of any module that is not imported. */
async function run<Result>(
  pool: Pool,
  module: URL | string,
  input: unknown,
  options: OffloadOptions = {},
): Promise<Result> {
  const { timeout } = options
  if (timeout !== undefined && (typeof timeout !== 'number' || Number.isNaN(timeout))) throw notTimeable(timeout)
  return (await pool.run(new OffloadCall({ module: moduleOf(module), input, ...options }))) as Result
}

function notTimeable(timeout: unknown): BusbarError {
  const message = `offload() was given timeout: ${String(timeout)}`
  return new BusbarError('TASK_INVALID', { message, hint: 'timeout is a number of milliseconds' })
}
