import type { Exchange, ExchangeHandler } from './exchange.ts'

/**
 * A method of connections in memory to another app: sends a request as values, where its client
 * would write it. `head`: the text that it would write, with the empty line, and `body`: the bytes
 * after it. The body is copied.
 *
 * Returns undefined, and sends nothing, if the request must be written: something else is under way
 * on this connection, or only bytes carry the request exactly.
 */
export const sendAsValues = Symbol('busbar.sendAsValues')

export interface ValueConnection {
  [sendAsValues]?(head: string, body: Uint8Array | null, response: ResponseReceiver): Responding | undefined
}

/** Gets the response. If it fails, the connection ends instead, as over TCP. */
export type ResponseReceiver = Required<Pick<ExchangeHandler, 'onInformation' | 'onHead' | 'onData' | 'onEnd'>>

/** A response under way. If the client destroys its connection, the request is aborted. */
export type Responding = Pick<Exchange, 'resume'>
