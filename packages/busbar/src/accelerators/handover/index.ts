/**
 * Gives the gateway's own request and response to a service of the same worker. Relies on the classes that a server keeps for its
 * requests and responses. Gain: see docs/guides/accelerators.md.
 */
export { handoverFault as probe } from '../../gateway/handover.ts'

/** Not moved yet: the gateway asks `isChosen`. */
export const attachment = undefined
