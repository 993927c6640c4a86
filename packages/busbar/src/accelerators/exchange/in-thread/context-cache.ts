import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import type { LocalEndpoint } from '../../../mesh/routing/endpoint.ts'
import { enterScope, resourcesAreConstant, type Scope } from '../../../mesh/scope.ts'
import { contextStoresFault, countStores } from '../../../node/context-stores.ts'

/**
 * All fields of a scope. The type makes a new field an error here, because the cache below would
 * ignore it. A call begins without a `context`.
 */
const fields: Record<keyof Scope, true> = { service: true, hops: true, trace: true, context: true }
void fields

/** Chains of calls are short. Longer ones are not cached. */
const maxRemembered = 64

/** Without the store of any program, if the first import of this module comes before programs. */
const inCleanContext = AsyncLocalStorage.snapshot()

/**
 * Enters a program's async context. `endpoint.enter` creates two contexts each time (0.33 µs). A
 * resource that was created inside them can enter them again (0.015 µs), and all calls with the
 * same service and hops share one, without the trace.
 *
 * A call of a trace needs a context of its own. Node copies the stores of the context that it is
 * entered from, one by one (0.16 µs for one store, 0.06 µs for none). Most programs have set no
 * store when they listen, so theirs is the scope alone, which is replaced: nothing is to be copied.
 */
export class ContextCache {
  readonly #endpoint: LocalEndpoint
  readonly #remembered: (AsyncResource | undefined)[] = []
  /** Has the stores that the program has set, and maybe a scope. */
  #base: AsyncResource | undefined

  constructor(endpoint: LocalEndpoint) {
    this.#endpoint = endpoint
  }

  enter<One, Two>(scope: Scope, run: (one: One, two: Two) => void, one: One, two: Two): void {
    const { hops } = scope
    if (!resourcesAreConstant || hops >= maxRemembered || scope.service !== this.#endpoint.service)
      return this.#endpoint.enter(scope, () => run(one, two))
    const resource = (this.#remembered[hops] ??= this.#endpoint.enter({ service: scope.service, hops }, makeResource))
    if (scope.trace === undefined) resource.runInAsyncScope(run, undefined, one, two)
    // Each call has a trace of its own. It does not stay in the shared resource, which is constant.
    else (this.#base ??= baseOf(resource)).runInAsyncScope(enterAndRun<One, Two>, undefined, scope, run, one, two)
  }
}

function baseOf(resource: AsyncResource): AsyncResource {
  if (countStores(resource) !== 1 || contextStoresFault() !== undefined) return resource
  const clean = inCleanContext(makeResource)
  return countStores(clean) === 0 ? clean : resource
}

function enterAndRun<One, Two>(scope: Scope, run: (one: One, two: Two) => void, one: One, two: Two): void {
  enterScope(scope)
  run(one, two)
}

function makeResource(): AsyncResource {
  return new AsyncResource('BusbarCall', { requireManualDestroy: true })
}
