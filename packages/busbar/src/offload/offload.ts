/// <reference lib="esnext.disposable" preserve="true" />
import { availableParallelism } from 'node:os'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../contract/errors.ts'
import { isAbortSignal } from '../shared/abort-signal.ts'
import { prepareSegment } from '../shared/state/segment.ts'
import { sharedThreadLimit, noThreadLimit, Pool } from './pool.ts'
import { OffloadCall } from './call.ts'
import type { TransferableObject } from './transferable.ts'

export interface OffloadOptions {
  /**
   * Milliseconds from the call, including the time in the queue. A task that has not started by
   * then never does. The `signal` of a running one aborts, and its thread is terminated after the
   * pool's `grace`. Default: no limit.
   */
  readonly timeout?: number | undefined
  /**
   * Cancels the call at once. A queued task never starts; a running one is aborted and terminated
   * as above.
   */
  readonly signal?: AbortSignal | undefined
  /** Order in the queue: higher goes first. Default: 0. */
  readonly priority?: number | undefined
  /** Buffers of the input to transfer instead of copy; the caller loses access to them. */
  readonly transfer?: readonly TransferableObject[] | undefined
}

export interface OffloadPoolOptions {
  /**
   * Maximum number of threads. Default: as many as all pools of the process may have together. That
   * is usable processors less one, but at least one.
   */
  readonly threads?: number | undefined
  /**
   * Maximum number of queued calls; one more fails at once with `RESOURCE_EXHAUSTED`. Default:
   * 1000.
   */
  readonly queue?: number | undefined
  /**
   * Milliseconds that a task may run after its `signal` has aborted; then its thread is terminated.
   * Default: 500.
   */
  readonly grace?: number | undefined
  /** Milliseconds after which an idle thread ends; the last one stays. Default: 10 000. */
  readonly idle?: number | undefined
}

/** Runs a module's default export, `(input, { signal, transfer }) => result`, in another thread. */
export interface Offload {
  /**
   * `module` is a URL, usually `new URL('./task.ts', import.meta.url)`. Input and result are
   * structured clones. Rejects with what the task throws, with `DEADLINE_EXCEEDED`, `CALL_ABORTED`,
   * `RESOURCE_EXHAUSTED` if the queue is full, `WORKER_DIED` if the thread ended, or `TASK_INVALID`
   * if the module has no such function or a value cannot be cloned.
   */
  <Result = unknown>(module: URL | string, input?: unknown, options?: OffloadOptions): Promise<Result>
}

export interface OffloadPool extends Offload, AsyncDisposable {
  /** Waits for running tasks, fails queued ones with `CALL_ABORTED`, and ends the threads. */
  close(): Promise<void>
}

/**
 * Runs a task in this thread's pool, which the first call creates. All such pools of a process
 * together have at most as many threads as usable processors less one, but at least one each. They
 * do not keep the process alive.
 */
export const offload: Offload = <Result>(module: URL | string, input?: unknown, options?: OffloadOptions) =>
  run<Result>((own ??= createPool()), module, input, options)

let own: Pool | undefined

/** Creates a separate pool. With `threads`, its size does not depend on other pools. */
export function createOffload(options: OffloadPoolOptions = {}): OffloadPool {
  const pool = createPool(options)
  const call: Offload = <Result>(module: URL | string, input?: unknown, options?: OffloadOptions) =>
    run<Result>(pool, module, input, options)
  const close = (): Promise<void> => pool.close()
  return Object.assign(call, { close, [Symbol.asyncDispose]: close })
}

// Gives the pool's threads access to `shared`.
prepareSegment()

function createPool({ threads, queue = 1000, grace = 500, idle = 10_000 }: OffloadPoolOptions = {}): Pool {
  for (const [name, value, least] of [
    ['threads', threads ?? 1, 1],
    ['queue', queue, 1],
    ['grace', grace, 0],
    ['idle', idle, 0],
  ] as const)
    if (!Number.isInteger(value) || value < least) throw invalidOption(name, value, least)
  const size = threads ?? Math.max(1, availableParallelism() - 1)
  const limit = threads === undefined ? sharedThreadLimit(size) : noThreadLimit
  return new Pool({ size, queue, grace, idle, limit })
}

function invalidOption(name: string, value: number, least: number): BusbarError {
  const message = `createOffload() got the invalid option ${name}: ${value}`
  return new BusbarError('TASK_INVALID', { message, hint: `Give ${name} as an integer of at least ${least}.` })
}

/** The caller states the type of the result, since the module is not imported. */
async function run<Result>(
  pool: Pool,
  module: URL | string,
  input: unknown,
  options: OffloadOptions = {},
): Promise<Result> {
  const { timeout, signal } = options
  if (timeout !== undefined && (typeof timeout !== 'number' || Number.isNaN(timeout)))
    throw invalidCall(`timeout: ${String(timeout)}`, 'Give timeout as a number of milliseconds.')
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidCall('signal', 'Give signal as an AbortSignal.')
  return (await pool.run(new OffloadCall({ module: moduleOf(module), input, ...options }))) as Result
}

function invalidCall(option: string, hint: string): BusbarError {
  return new BusbarError('TASK_INVALID', { message: `offload() got the invalid option ${option}`, hint })
}

/** The URL of a task's module, as text. */
function moduleOf(module: URL | string): string {
  if (module instanceof URL) return module.href
  if (typeof module === 'string' && isAbsolute(module)) return pathToFileURL(module).href
  if (typeof module === 'string' && URL.canParse(module)) return module
  throw new BusbarError('TASK_INVALID', {
    message: `offload() was given ${typeof module === 'string' ? JSON.stringify(module) : typeof module} as the module of a task`,
    hint: "Pass a URL, not a relative path: new URL('./task.ts', import.meta.url).",
  })
}
