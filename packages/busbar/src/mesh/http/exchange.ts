/**
 * One HTTP request and its answer as values: how the gateway and calls that come over a link state a request and take
 * its answer, whether it then goes as HTTP text on a connection (`text-exchange.ts`) or by an accelerator.
 */
import type { Endpoint } from '../endpoint.ts'
import type { HttpMesh } from '../mesh.ts'
import type { Scope } from '../scope.ts'

export interface ExchangeRequest {
  readonly method: string
  /** Path and query, starting with a slash. */
  readonly path: string
  /**
   * Name, value, name, value…, in the order and case they were stated. `Host` is among them. The list becomes the
   * callee's own: hand over a fresh one. A body without `Content-Length` or `Transfer-Encoding` gets the one it needs.
   */
  readonly rawHeaders: string[]
  /** A whole body; null for none, and for one that is streamed. */
  readonly body: string | Uint8Array | null
  /** The body will come chunk by chunk, by {@link Exchange.write} and {@link Exchange.end}. */
  readonly streamed: boolean
  /** Without it HTTP/1.1. An older one changes how the callee answers, which only a byte stream says exactly. */
  readonly httpVersion?: '1.0' | undefined
  /** How large the head of an answer may be, in bytes. Without it as large as Node's own client takes. */
  readonly maxAnswerHead?: number | undefined
}

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Names in lower case; a repeated one has a list. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Name, value, name, value…, as the callee wrote them; absent where no callee did. */
  readonly rawHeaders?: readonly string[]
}

/**
 * For a request from the gateway. A server may send a head of any size, and it is for the client to refuse it: browsers
 * take 256 KiB.
 */
export const maxForwardedHead = 1024 * 1024

/** What becomes of a request, told in this order: any information, head, data…, then exactly one of end and error. */
export interface ExchangeHandler {
  /** 1xx, such as 103 early hints. */
  onInformation?(status: number, headers: Readonly<Record<string, string | string[]>>): void
  onHead(head: ResponseHead): void
  /** A chunk that is now the caller's own. False asks for no more until {@link Exchange.resume}. */
  onData(chunk: Uint8Array | string): boolean
  onEnd(trailers: Readonly<Record<string, string | string[]>>): void
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

/** What makes calls without HTTP text. Where there is none, all of them are text on a connection. */
export interface Exchanges {
  /**
   * Sends `request` to the endpoint's program, as if over a connection of its own. The program runs later, never inside
   * this call, in the context of `endpoint.enter(scope, …)`; the handler is called in the caller's async context, never
   * inside the program's code. The body is taken (copied) before this returns.
   *
   * Undefined, with nothing sent, for what only a connection does exactly: what is not valid (the client there refuses it in
   * its own words), upgrades, CONNECT, methods the parser does not know, contradictory or wrong lengths, headers beyond the
   * server's limit or with other values than printable ASCII.
   *
   * `elsewhere`: finds another instance, for a request whose instance turns out to be gone.
   */
  open(
    endpoint: Endpoint,
    request: ExchangeRequest,
    scope: Scope,
    handler: ExchangeHandler,
    elsewhere?: (not: Endpoint) => Endpoint | undefined,
  ): Exchange | undefined
  /** Has clients of this thread that have faster ways than a connection take them. */
  capture(mesh: HttpMesh): Disposable
}

/** On connections that are made for a call and kept by nobody else: a request is never on its way on one. */
export const ownConnection = Symbol('busbar.ownConnection')
