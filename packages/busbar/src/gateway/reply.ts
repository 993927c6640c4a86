import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/**
 * What the gateway asks of the answer to a request, whoever writes it: Node's response, or the gateway itself for a typed
 * call whose answer is one piece of text.
 */
export interface Reply {
  readonly req: IncomingMessage
  readonly headersSent: boolean
  readonly statusCode: number
  /** It has left whole. */
  readonly writableFinished: boolean
  /** False: it says that the connection ends with it. */
  shouldKeepAlive: boolean
  /** Its connection is gone. Node's response learns that from the connection itself. */
  abandon?(): void
}

/** Of Node's HTTP server: whose turn it is to write to the socket. */
export interface HttpSocket extends Socket {
  _httpMessage?: Reply | null
}
