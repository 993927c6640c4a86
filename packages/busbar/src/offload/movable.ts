/**
 * What can be moved to another thread instead of copied: an ArrayBuffer, a port, a stream. `Transferable` of
 * `node:worker_threads` lists them; a user of this package need not have Node's types.
 */
export type Movable = ArrayBuffer | object
