import { subscribe } from 'node:diagnostics_channel'
import { getEnvironmentData, setEnvironmentData, type Worker } from 'node:worker_threads'
import { thisThread } from '../process/this-thread.ts'
import { createSegment, segmentVersion } from './layout.ts'
import { ThreadTable } from './thread-table.ts'

/** The process's shared memory, or why this thread has none. */
export type Segment =
  | { readonly state: 'shared'; readonly cells: Int32Array }
  | { readonly state: 'refused'; readonly reason: string }

/** As a thread passes it to the threads that it starts. */
type Inherited = { readonly version: number } & ({ readonly memory: SharedArrayBuffer } | { readonly refused: string })

/**
 * Known to every copy of this package in a thread, and inherited by threads through
 * `setEnvironmentData`.
 */
const key = 'busbar.shared'
const global = globalThis as { [found: symbol]: Inherited | undefined }
const symbol = Symbol.for(key)

/**
 * Called when this package is loaded: threads inherit the environment data at their start, so the
 * memory must exist before the first of them.
 */
export function prepareSegment(): void {
  if (global[symbol] !== undefined) return
  const inherited = thisThread.isMain ? makeSegment() : (getEnvironmentData(key) as unknown as Inherited | undefined)
  if (inherited === undefined) return
  keep(inherited)
  if ('memory' in inherited && inherited.version === segmentVersion)
    removeWhenEnded(new ThreadTable(new Int32Array(inherited.memory)))
}

export function currentSegment(): Segment {
  prepareSegment()
  const inherited = global[symbol]
  if (inherited === undefined)
    return refused(
      `thread ${thisThread.id} was started before its parent thread had loaded 'busbar', so it inherited no shared memory`,
    )
  if (inherited.version !== segmentVersion)
    return refused(
      `this copy of 'busbar' uses memory layout ${segmentVersion}, but the copy that created the memory uses layout ${inherited.version}`,
    )
  if ('refused' in inherited) return refused(inherited.refused)
  return { state: 'shared', cells: new Int32Array(inherited.memory) }
}

/**
 * Makes `shared` fail in this thread and those that it starts: for a worker process, which shares
 * no memory with other workers. `reason` is one clause that says where this is and what to write
 * instead. Call it before a service is loaded.
 */
export function refuseShared(reason: string): void {
  keep({ version: segmentVersion, refused: reason })
}

function makeSegment(): Inherited {
  return { version: segmentVersion, memory: createSegment().buffer as SharedArrayBuffer }
}

function keep(inherited: Inherited): void {
  global[symbol] = inherited
  setEnvironmentData(key, inherited)
}

function refused(reason: string): Segment {
  return { state: 'refused', reason }
}

/** Node announces every thread start by a diagnostics channel, and the thread's end as an event. */
function removeWhenEnded(threads: ThreadTable): void {
  subscribe('worker_threads', (message) => {
    const { worker } = message as { worker: Worker }
    // The id is -1 after the exit.
    const started = worker.threadId
    worker.once('exit', () => threads.removeThread(started))
  })
}
