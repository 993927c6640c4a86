/**
 * Creates a new socket for each connection that the supervisor transfers to a worker thread. V8
 * keeps the properties of a transferred socket in a dictionary, which makes each access of Node's
 * HTTP code slower. Relies on the handle under a socket. Figures:
 * docs/decisions/expose/accepting.md.
 */
export { moveConnection as attachment, socketHandleFault as probe } from '../../node/socket-handle.ts'
