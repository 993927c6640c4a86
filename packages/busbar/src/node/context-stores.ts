/**
 * What an `AsyncResource` has captured: a map with the value of each `AsyncLocalStorage` that was
 * set, or undefined if none was (lib/internal/async_context_frame.js). It is only read.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { types } from 'node:util'
import { symbolNamed } from './response.ts'

const frameSymbol = symbolNamed(makeResource(), 'context_frame')

/** How many stores have a value in the resource's context. Undefined: not known. */
export function countStores(resource: AsyncResource): number | undefined {
  if (frameSymbol === undefined) return undefined
  const frame: unknown = Reflect.get(resource, frameSymbol)
  if (frame === undefined) return 0
  // Not `instanceof`: Node's own class does not inherit from the visible `Map`.
  return types.isMap(frame) ? Reflect.get<Map<unknown, unknown>, 'size'>(Map.prototype, 'size', frame) : undefined
}

/** Undefined if stores are counted as they are set. */
export function contextStoresFault(): string | undefined {
  const [one, two] = [new AsyncLocalStorage(), new AsyncLocalStorage()]
  const counts = [0, 1, 2].map((more) => {
    const count = (): number | undefined => countStores(makeResource())
    return more === 0 ? count() : one.run(1, () => (more === 1 ? count() : two.run(2, count)))
  })
  const [none, ...rest] = counts
  return none !== undefined && rest.every((count, at) => count === none + at + 1)
    ? undefined
    : `contexts with none, one and two more stores had ${counts.join(', ')}`
}

function makeResource(): AsyncResource {
  return new AsyncResource('BusbarProbe', { requireManualDestroy: true })
}
