import { isMainThread, threadId } from 'node:worker_threads'

/** What this thread really is. A program that Busbar hosts in a thread sees the values of a main thread instead. */
export interface ThisThread {
  readonly isMain: boolean
  readonly id: number
}

const key = Symbol.for('busbar.thread')
const global = globalThis as { [key]?: ThisThread }

/**
 * Kept under a symbol that every copy of this package in the thread knows: a program that brings its own copy loads it when
 * `node:worker_threads` shows the values of a main thread already.
 */
export const thisThread: ThisThread = (global[key] ??= { isMain: isMainThread, id: threadId })
