import { subscribe } from 'node:diagnostics_channel'
import { getEnvironmentData, setEnvironmentData, type Worker } from 'node:worker_threads'
import { thisThread } from '../this-thread.ts'
import { createSegment, segmentVersion } from './layout.ts'
import { Threads } from './threads.ts'

/** The process's common memory, or why this thread has none. */
export type Segment =
  | { readonly state: 'shared'; readonly cells: Int32Array }
  | { readonly state: 'refused'; readonly reason: string }

/** As it goes from a thread to those that it starts. */
type Handed = { readonly version: number } & ({ readonly memory: SharedArrayBuffer } | { readonly refused: string })

/** Known to every copy of this package in a thread, and by `setEnvironmentData` to every thread that it starts. */
const key = 'busbar.shared'
const global = globalThis as { [found: symbol]: Handed | undefined }
const symbol = Symbol.for(key)

/**
 * Called as soon as this package is loaded: threads inherit what is set when they are started, so the memory has to be
 * there before the first of them is.
 */
export function prepareSegment(): void {
  if (global[symbol] !== undefined) return
  const handed = thisThread.isMain ? makeSegment() : (getEnvironmentData(key) as unknown as Handed | undefined)
  if (handed === undefined) return
  keep(handed)
  if ('memory' in handed && handed.version === segmentVersion) buryWhenEnded(new Threads(new Int32Array(handed.memory)))
}

export function currentSegment(): Segment {
  prepareSegment()
  const handed = global[symbol]
  if (handed === undefined)
    return refused(
      `thread ${thisThread.id} was started before 'busbar' was loaded by the thread that started it, which so had nothing to share`,
    )
  if (handed.version !== segmentVersion)
    return refused(
      `this copy of 'busbar' lays memory out as version ${segmentVersion}, the one that began as version ${handed.version}`,
    )
  if ('refused' in handed) return refused(handed.refused)
  return { state: 'shared', cells: new Int32Array(handed.memory) }
}

/**
 * Makes `shared` fail in this thread and in those that it starts: for a worker that is a process of its own, whose memory
 * its siblings do not see. `reason` is one clause that says where this is and what to write instead. To be called
 * before a service is loaded.
 */
export function refuseShared(reason: string): void {
  keep({ version: segmentVersion, refused: reason })
}

function makeSegment(): Handed {
  return { version: segmentVersion, memory: createSegment().buffer as SharedArrayBuffer }
}

function keep(handed: Handed): void {
  global[symbol] = handed
  setEnvironmentData(key, handed)
}

function refused(reason: string): Segment {
  return { state: 'refused', reason }
}

/** Node tells whoever starts a thread, however that is done, and the thread's own end comes as an event. */
function buryWhenEnded(threads: Threads): void {
  subscribe('worker_threads', (message) => {
    const { worker } = message as { worker: Worker }
    // Afterwards it is -1.
    const started = worker.threadId
    worker.once('exit', () => threads.buryThread(started))
  })
}
