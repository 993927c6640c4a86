import { AsyncLocalStorage } from 'node:async_hooks'

/** Who is running: the service whose code this is, and the call it is answering. */
export interface Scope {
  /** The service whose code runs. */
  readonly service: string
  /** How many calls led here: 0 for what came from outside, and for what a program does by itself. */
  readonly hops: number
}

const storage = new AsyncLocalStorage<Scope>()

/** Undefined in Busbar's own code. */
export function currentScope(): Scope | undefined {
  return storage.getStore()
}

export function runInScope<R>(scope: Scope, run: () => R): R {
  return storage.run(scope, run)
}
