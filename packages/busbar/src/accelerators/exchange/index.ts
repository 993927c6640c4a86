/**
 * Passes the head and the body of a call between services as values, for `fetch` and undici. Relies on the callbacks of Node's
 * parser, and on how a response lays out its head. Gain: see docs/guides/accelerators.md.
 */
export { exchangeFault as probe } from './probe.ts'

/** Not moved yet: the mesh asks `isChosen`. */
export const attachment = undefined
