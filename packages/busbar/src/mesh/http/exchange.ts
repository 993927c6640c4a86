import type { Endpoint } from '../endpoint.ts'
import type { Scope } from '../scope.ts'

/**
 * One HTTP request and its answer between two programs in this thread, without a socket, HTTP text or a parser.
 * Clients (`fetch.ts`, `dispatcher.ts`) state the request and take the answer through this interface; the virtual
 * connection behind it gives the callee a real `IncomingMessage` and `ServerResponse`.
 */

export interface ExchangeRequest {
  readonly method: string
  /** Path and query, starting with a slash. */
  readonly path: string
  /** Name, value, name, value…, in the order and case they were stated. `Host` is among them. */
  readonly rawHeaders: string[]
  /** A whole body; null for none, and for one that is streamed. */
  readonly body: string | Uint8Array | null
  /** The body will come chunk by chunk, by {@link Exchange.write} and {@link Exchange.end}. */
  readonly streamed: boolean
}

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Names in lower case; a repeated one has a list. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** What becomes of a request, told in this order: any information, head, data…, then exactly one of end and error. */
export interface ExchangeHandler {
  /** 1xx, such as 103 early hints. */
  onInformation?(status: number, headers: Readonly<Record<string, string | string[]>>): void
  onHead(head: ResponseHead): void
  /** A chunk that is now the caller's own. False asks for no more until {@link Exchange.resume}. */
  onData(chunk: Uint8Array | string): boolean
  onEnd(trailers: Readonly<Record<string, string>>): void
  /** The callee went away or the call was aborted; before or after the head. */
  onError(error: Error): void
  /** A streamed request body may go on after `write` answered false. */
  onDrain?(): void
}

export interface Exchange {
  /** Only with a streamed body. False: wait for `onDrain`. */
  write(chunk: Uint8Array | string): boolean
  end(trailers?: string[]): void
  resume(): void
  /** The caller gives up: the callee sees `close` as it would on a cut connection, the handler `onError`. */
  abort(error?: Error): void
}

/**
 * Sends `request` to the endpoint's program, as if over a connection of its own. The program runs later, never inside
 * this call, in the context of `endpoint.enter(scope, …)`; the handler is called in the caller's async context, never
 * inside the program's code. The body is taken (copied) before this returns.
 *
 * Throws what a client would throw for a request that cannot be sent (a header with a line break). Ask
 * {@link canExchange} first: what it declines must go over a byte stream.
 */
export function openExchange(
  _endpoint: Endpoint,
  _request: ExchangeRequest,
  _scope: Scope,
  _handler: ExchangeHandler,
): Exchange {
  throw new Error('not built yet')
}

/**
 * False for what only a byte stream does exactly: upgrades, CONNECT, methods the parser does not know, headers beyond
 * the server's limit, contradictory framing.
 */
export function canExchange(_endpoint: Endpoint, _request: ExchangeRequest): boolean {
  return fastPathWorks()
}

/** Whether this Node's HTTP internals behave as the exchange relies upon. False: use the byte stream for every call. */
export function fastPathWorks(): boolean {
  return false
}
