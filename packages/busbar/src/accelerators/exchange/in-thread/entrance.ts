import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import type { LocalEndpoint } from '../../../mesh/endpoint.ts'
import type { Scope } from '../../../mesh/scope.ts'

/** All that tells two scopes of a service apart. Another field here would make an entrance wrong: it would have to go. */
const fields: Record<keyof Scope, true> = { service: true, hops: true }
void fields

/** Chains are short; what is longer enters the long way. */
const maxRemembered = 64

/**
 * The way into a program's async context. `endpoint.enter` makes two contexts each time (0.33 µs); a resource that was
 * made inside them once remembers them (0.015 µs), and all calls of the same service and hops are in the same.
 */
export class Entrance {
  readonly #endpoint: LocalEndpoint
  readonly #remembered: (AsyncResource | undefined)[] = []

  constructor(endpoint: LocalEndpoint) {
    this.#endpoint = endpoint
  }

  enter<One, Two>(scope: Scope, run: (one: One, two: Two) => void, one: One, two: Two): void {
    const { hops } = scope
    if (!resourcesAreConstant || hops >= maxRemembered || scope.service !== this.#endpoint.service)
      return this.#endpoint.enter(scope, () => run(one, two))
    const resource = (this.#remembered[hops] ??= this.#endpoint.enter(scope, makeResource))
    resource.runInAsyncScope(run, undefined, one, two)
  }
}

function makeResource(): AsyncResource {
  return new AsyncResource('BusbarCall', { requireManualDestroy: true })
}

/**
 * Whether a store that one call enters stays out of the next. Not so with `--no-async-context-frame`, where stores are
 * kept on the resource itself.
 */
const resourcesAreConstant = ((): boolean => {
  const storage = new AsyncLocalStorage<boolean>()
  const resource = makeResource()
  resource.runInAsyncScope(() => storage.enterWith(true))
  return resource.runInAsyncScope(() => storage.getStore()) === undefined
})()
