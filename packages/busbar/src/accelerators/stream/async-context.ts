import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs code in an async context. */
export type Enter = (run: () => void) => void

/** Enters the context that is current now. */
export function currentContext(): Enter {
  return AsyncLocalStorage.snapshot()
}
