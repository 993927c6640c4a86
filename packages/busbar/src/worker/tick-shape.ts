/**
 * Keeps `process.nextTick` quick for as long as this thread or process lives. Imported before all else.
 *
 * Node makes an object for each tick, with symbols for keys. V8 remembers the shapes that it saw there by weak references; a
 * full collection at a moment when no tick is waiting takes those shapes away, and V8 never learns others in that place: a
 * tick costs 385 ns from then on and not 60 (docs/decisions/ticks.md), and a small request makes six of them or more. One
 * such object that is never let go keeps the shapes. Node hands it out: it is the resource in which a tick runs.
 */
import { executionAsyncResource } from 'node:async_hooks'

/** Undefined before the first turn. */
export let keptTick: object | undefined

process.nextTick(() => {
  keptTick = executionAsyncResource()
})
