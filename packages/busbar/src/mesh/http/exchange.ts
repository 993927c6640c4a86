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
