/**
 * The trace of a task of `offload()`: that of the code that has called it, in another thread.
 *
 * All copies of this package in a thread share it: a program may call another copy than the one
 * that runs it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Trace } from '../../contract/context.ts'

interface Place {
  /** Of a thread that runs tasks. */
  readonly tasks: AsyncLocalStorage<Trace>
  /** A worker has the traces of its requests elsewhere. */
  read: () => Trace | undefined
}

const key = Symbol.for('busbar.taskTrace')
const place = ((globalThis as { [key]?: Place })[key] ??= placeOf(new AsyncLocalStorage<Trace>()))

/** Undefined outside of a task. */
export function taskTrace(): Trace | undefined {
  return place.tasks.getStore()
}

export function runInTaskTrace<R>(trace: Trace | undefined, run: () => R): R {
  return trace === undefined ? run() : place.tasks.run(trace, run)
}

export function readCallerTraceBy(reader: () => Trace | undefined): void {
  place.read = reader
}

/** Of the code that calls `offload()` now. */
export function callerTrace(): Trace | undefined {
  return place.read()
}

function placeOf(tasks: AsyncLocalStorage<Trace>): Place {
  return { tasks, read: () => tasks.getStore() }
}
