/**
 * Sends what a worker writes to its connections in one turn of its event loop together. Relies on the methods by which a socket
 * writes. Off unless `gateway.batchWrites` asks for it. Gain: see docs/guides/accelerators.md.
 */
export { socketWritesFault as probe } from '../../node/socket-writes.ts'
export { gatherWrites as attachment } from './gather-writes.ts'
