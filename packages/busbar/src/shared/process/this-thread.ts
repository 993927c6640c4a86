import { isMainThread, threadId } from 'node:worker_threads'

/**
 * The real identity of this thread. A program hosted in a thread sees the values of a main thread
 * instead.
 */
export interface ThisThread {
  readonly isMain: boolean
  readonly id: number
}

const key = Symbol.for('busbar.thread')
const global = globalThis as { [key]?: ThisThread }

/**
 * Stored under a symbol that every copy of this package in the thread knows: a program's own copy
 * loads after `node:worker_threads` already shows the values of a main thread.
 */
export const thisThread: ThisThread = (global[key] ??= { isMain: isMainThread, id: threadId })
