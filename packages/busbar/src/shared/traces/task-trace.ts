/** The trace of a task of `offload()`: that of the code that has called it, in another thread. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Trace } from '../../contract/context.ts'

const ofTasks = new AsyncLocalStorage<Trace>()

/** Undefined outside of a task. */
export function taskTrace(): Trace | undefined {
  return ofTasks.getStore()
}

export function runInTaskTrace<R>(trace: Trace | undefined, run: () => R): R {
  return trace === undefined ? run() : ofTasks.run(trace, run)
}

let read = taskTrace

/** A worker has the traces of its requests elsewhere. */
export function readCallerTraceBy(reader: () => Trace | undefined): void {
  read = reader
}

/** Of the code that calls `offload()` now. */
export function callerTrace(): Trace | undefined {
  return read()
}
