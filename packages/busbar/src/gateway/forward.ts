import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RemoteEndpoint } from '../mesh/endpoint.ts'
import {
  canExchange,
  openExchange,
  type Exchange,
  type ExchangeHandler,
  type ExchangeRequest,
  type ResponseHead,
} from '../mesh/http/exchange.ts'
import type { RoutedRequest } from './director.ts'
import type { Router } from '../mesh/router.ts'
import { endToEnd, forExchange } from './end-to-end.ts'
import { hasBody } from './relay.ts'
import type { Way } from './routes.ts'

/**
 * Takes a request to a service in another worker, without a connection of its own: its head, then whatever comes of its
 * body, and the same back. False where only a byte stream does that exactly. `onLost`: no answer has begun, and none
 * will; the response is the caller's to make.
 */
export function forward(
  router: Router,
  endpoint: RemoteEndpoint,
  { scope, service }: Way,
  req: RoutedRequest,
  res: ServerResponse,
  onLost: (error: Error) => void,
): boolean {
  const streamed = hasBody(req)
  const request: ExchangeRequest = {
    method: req.method!,
    path: req.url!,
    rawHeaders: forExchange(req.rawHeaders),
    body: null,
    streamed,
    originalUrl: req.originalUrl,
  }
  if (!canExchange(endpoint, request)) return false
  const answer = new ForwardedAnswer(req, res, onLost)
  const exchange = openExchange(endpoint, request, scope, answer, (not) => router.find(service, { not }))
  answer.exchange = exchange
  if (streamed) send(req, exchange)
  // The caller gave up, or was given an answer: so does the service's.
  res.once('close', () => exchange.abort())
  return true
}

/** As fast as the service reads. */
function send(req: IncomingMessage, exchange: Exchange): void {
  req.on('data', (chunk: Buffer) => {
    if (!exchange.write(chunk)) req.pause()
  })
  req.on('end', () => exchange.end(req.rawTrailers))
}

class ForwardedAnswer implements ExchangeHandler {
  exchange: Exchange | undefined
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #onLost: (error: Error) => void

  constructor(req: IncomingMessage, res: ServerResponse, onLost: (error: Error) => void) {
    this.#req = req
    this.#res = res
    this.#onLost = onLost
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    if (this.#res.headersSent) return
    if (status === 100) this.#res.writeContinue()
    else if (status === 102) this.#res.writeProcessing()
    else if (status === 103) this.#res.writeEarlyHints(headers)
  }

  onHead({ status, statusText, rawHeaders }: ResponseHead): void {
    // Whether the body comes in chunks is decided anew: a caller of HTTP/1.0 knows none.
    if (!this.#isOver) this.#res.writeHead(status, statusText, endToEnd(rawHeaders!, 'transfer-encoding'))
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#isOver || this.#res.write(chunk)) return true
    this.#res.once('drain', () => this.exchange!.resume())
    return false
  }

  onEnd(trailers: Readonly<Record<string, string>>): void {
    if (this.#isOver) return
    const fields = Object.entries(trailers)
    if (fields.length > 0 && this.#res.chunkedEncoding) this.#res.addTrailers(fields)
    this.#res.end()
  }

  onDrain(): void {
    this.#req.resume()
  }

  onError(error: Error): void {
    if (this.#isOver) return
    if (this.#res.headersSent) cutOff(this.#res)
    else this.#onLost(error)
  }

  /** Something else was answered in the meantime, or nobody is there any more. */
  get #isOver(): boolean {
    return this.#res.destroyed || this.#res.writableEnded
  }
}

/** Behind what was written: the client gets all there was, and sees that it is not the whole. */
function cutOff(res: ServerResponse): void {
  if (res.socket === null) res.destroy()
  else res.socket.destroySoon()
}
