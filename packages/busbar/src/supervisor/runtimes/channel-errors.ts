import { AsyncLocalStorage } from 'node:async_hooks'

/** Called with an exception that Node's own code threw while it read from a child. */
type OnError = (error: unknown) => void

const handlers = new AsyncLocalStorage<OnError>()
const outside = AsyncLocalStorage.snapshot()
let isolated = 0

/** On the listener of each copy of this package: two of them must not wait for each other. */
const mark = Symbol.for('busbar.attribute')

/**
 * Starts a child process whose channel cannot end this process. Node throws if the bytes on a
 * channel are no message, or are an internal message that it did not expect, and nothing catches
 * that. But it throws in the async context in which the child was started. Until `release` is
 * called, such an exception goes to `onError`.
 */
export function startIsolated<T>(
  start: () => T,
  onError: OnError,
): { readonly child: T; readonly release: () => void } {
  if (isolated++ === 0) process.prependListener('uncaughtException', attribute)
  const release = (): void => {
    if (--isolated === 0) process.removeListener('uncaughtException', attribute)
  }
  try {
    return { child: handlers.run((error) => outside(onError, error), start), release }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Wraps a listener of an isolated child: its exceptions are faults of Busbar, and end the process
 * as usual.
 */
export function notIsolated<A extends unknown[]>(listener: (...args: A) => void): (...args: A) => void {
  return (...args) => outside(listener, ...args)
}

Object.defineProperty(attribute, mark, { value: true })

function attribute(error: unknown): void {
  const onError = handlers.getStore()
  if (onError !== undefined) return onError(error)
  if (process.listeners('uncaughtException').some((listener) => !(mark in listener))) return
  // Without a listener, Node ends the process and prints the stack, after the line that threw.
  process.removeListener('uncaughtException', attribute)
  process.nextTick(() => {
    throw error // Thrown elsewhere in this process: its own stack is below.
  })
}
