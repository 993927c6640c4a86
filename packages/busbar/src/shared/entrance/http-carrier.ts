/**
 * A complete request of HTTP/1.1 that has come without a connection, and the way back to its
 * client. It can be read only in the turn in which it came.
 */
export interface HttpCarrier {
  readonly method: string
  /** The request target as sent. */
  readonly url: string
  /** Of the whole head, in bytes. */
  readonly headLength: number
  /** The lines of its fields in Latin-1, each with its line end. */
  readonly fields: string
  /** Of the body, in bytes. */
  readonly bodyLength: number
  /** The memory is written again when the turn is over. */
  readonly body: Buffer
  readonly remoteAddress: string
  readonly isEncrypted: boolean
  /** The client has disconnected, or waits no longer. Set it in the turn of the request. */
  onClosed: (() => void) | undefined
  /** Sends the whole response, in the form of HTTP/1.1. */
  answer(text: string, encoding: 'latin1' | 'utf8'): void
  /** Ends the client's connection without a response. */
  reset(): void
}

/** Returns false if the request needs a connection, on which Node's own server answers it. */
export type ServeRequest = (carrier: HttpCarrier) => boolean
