/**
 * An object that can be transferred to another thread instead of copied: an ArrayBuffer, a port, a
 * stream. A loose copy of `Transferable` of `node:worker_threads`, in a file without Node's types:
 * users of this package may not have them.
 */
export type TransferableObject = ArrayBuffer | object
