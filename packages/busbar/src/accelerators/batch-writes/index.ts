/**
 * Sends what a worker writes to its connections in one turn of the event loop together. Relies on
 * the methods by which a socket writes. Off unless `gateway.batchWrites` is set. Gain: see
 * docs/guides/scale/accelerators.md.
 */
export { socketWritesFault as probe } from '../../node/socket-writes.ts'
export { batchWrites as attachment } from './batch-writes.ts'
