import { AsyncLocalStorage } from 'node:async_hooks'

/** Told of an exception that Node's own code threw while it read from a child. */
type Broken = (error: unknown) => void

const children = new AsyncLocalStorage<Broken>()
const outside = AsyncLocalStorage.snapshot()
let contained = 0

/**
 * Starts a child whose channel cannot end this process. Node throws where the bytes on a channel are no message, or are one of
 * its own that it did not expect, and nothing stands between that and the end of the process. But it throws in the async
 * context that the child was started in. Until `release` is called, such an exception is told to `broken`.
 */
export function startContained<T>(start: () => T, broken: Broken): { readonly child: T; readonly release: () => void } {
  if (contained++ === 0) process.prependListener('uncaughtException', attribute)
  const release = (): void => {
    if (--contained === 0) process.removeListener('uncaughtException', attribute)
  }
  try {
    return { child: children.run((error) => outside(broken, error), start), release }
  } catch (error) {
    release()
    throw error
  }
}

/** For listeners of a contained child: what they throw is Busbar's own fault, and ends the process as ever. */
export function notContained<A extends unknown[]>(listener: (...args: A) => void): (...args: A) => void {
  return (...args) => outside(listener, ...args)
}

function attribute(error: unknown): void {
  const broken = children.getStore()
  if (broken !== undefined) return broken(error)
  if (process.listenerCount('uncaughtException') > 1) return
  // Without a listener the process ends as Node ends it, with the place of the error.
  process.removeListener('uncaughtException', attribute)
  process.nextTick(() => {
    throw error
  })
}
