import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'
// Looks at the real values before they are replaced.
import '../../shared/this-thread.ts'

/** What Node's documentation says of each of them in a main thread; `isInternalThread` is the same in both. */
const values = {
  isMainThread: true,
  parentPort: null,
  resourceLimits: {},
  threadId: 0,
  threadName: '',
  workerData: null,
}

/**
 * Gives `node:worker_threads` the values of a main thread, for all code that this thread loads from now on, by `import` and by
 * `require`. Threads that a program starts have a `node:worker_threads` of their own, with the real values.
 */
export function appearAsMainThread(): void {
  Object.assign(workerThreads, values)
  syncBuiltinESMExports()
}
