/**
 * Passes the head and the body of a call between services as values: no socket, no text, no parser. Clients (`fetch/`, `undici/`)
 * state the request; a virtual connection gives the callee a real `IncomingMessage` and `ServerResponse`, in this thread or at the
 * other end of a link. Relies on the callbacks of Node's parser, on how a response makes its head, and on sockets over handles of
 * ours. Gain: see docs/guides/accelerators.md.
 */
import type { Exchanges } from '../../mesh/http/exchange.ts'
import { captureClients } from './capture.ts'
import { tryOpen } from './open.ts'

export { exchangeFault as probe } from './probe.ts'

export const attachment: Exchanges = { open: tryOpen, capture: captureClients }
