/**
 * Sends what a worker writes to its connections in one turn of its event loop together. Relies on the handle under a socket.
 * Off unless `gateway.batchWrites` asks for it. Gain: see docs/guides/accelerators.md.
 */
export { gatheringFault as probe } from './probe.ts'

/** Not moved yet: the mesh asks `isChosen`. */
export const attachment = undefined
