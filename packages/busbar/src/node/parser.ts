import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * The one doorway to what Node does not document and the exchange relies upon. `self-check.ts` tries each of these at
 * start and sends every call over a byte stream where this Node differs.
 */

/** llhttp as Node's HTTP server and client drive it (`lib/_http_common.js`). */
export interface HttpParser {
  execute(bytes: Uint8Array): number | Error
  finish(): Error | undefined
  initialize(type: number, resource: object, maxHeaderSize: number, lenientFlags: number): void
  close(): void
  [callback: number]: ((...values: never[]) => unknown) | null
}

export interface HttpParserClass {
  new (): HttpParser
  readonly REQUEST: number
  readonly RESPONSE: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
}

/** The callbacks by which a parser tells Node's server of a request: what a virtual connection calls instead. */
export interface ParserCallbacks {
  headersComplete(
    this: HttpParser,
    major: number,
    minor: number,
    rawHeaders: string[],
    method: number,
    url: string,
    status: undefined,
    statusText: undefined,
    upgrade: boolean,
    keepAlive: boolean,
  ): unknown
  headers(this: HttpParser, rawHeaders: string[], url: string): void
  body(this: HttpParser, chunk: Uint8Array): void
  messageComplete(this: HttpParser): void
}

/** A `ServerResponse` with the fields by which Node lays out a response (`lib/_http_outgoing.js`). */
export interface ResponseInternals extends ServerResponse {
  _header: string | null
  _headerSent: boolean
  _storeHeader: StoreHeader
  _send: Send
  _writeRaw: Send
  readonly _hasBody: boolean
  _contentLength: number | null
  _last: boolean
  _defaultKeepAlive: boolean
  _removedConnection: boolean
  _removedContLen: boolean
  _removedTE: boolean
  readonly _keepAliveTimeout: number
  readonly _maxRequestsPerSocket: number | null
  readonly maxRequestsOnConnectionReached: boolean
  readonly agent: unknown
}

export type StoreHeader = (this: ResponseInternals, firstLine: string, headers: unknown) => void

export type Send = (
  this: ResponseInternals,
  data: string | Uint8Array,
  encoding: BufferEncoding | ((error?: Error | null) => void) | null | undefined,
  callback?: ((error?: Error | null) => void) | null,
  byteLength?: number,
) => boolean

/** Headers set one by one: lower-case name to the name as written and its value. */
export type OutHeaders = Record<string, [name: string, value: unknown]>

export interface ServerInternals extends Server {
  /** Null when the server does not listen. */
  readonly _handle: unknown
  _connections: number
  maxConnections: number
  highWaterMark: number | undefined
  allowHalfOpen: boolean
}

export interface SocketInternals extends Socket {
  server: unknown
  _server: unknown
  parser: HttpParser | null
  readonly _writableState: { readonly length: number }
  _unrefTimer(): void
}

/** An `IncomingMessage` or `ServerResponse` keeps some of its state under symbols that are only reachable by name. */
export function symbolNamed(owner: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(owner).find((symbol) => symbol.description === description)
}

export function parserClassOf(parser: HttpParser): HttpParserClass {
  return parser.constructor as HttpParserClass
}

/** All parsers of one process share these functions. */
export function callbacksOf(parser: HttpParser): ParserCallbacks {
  const { kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete } = parserClassOf(parser)
  return {
    headers: parser[kOnHeaders] as ParserCallbacks['headers'],
    headersComplete: parser[kOnHeadersComplete] as ParserCallbacks['headersComplete'],
    body: parser[kOnBody] as ParserCallbacks['body'],
    messageComplete: parser[kOnMessageComplete] as ParserCallbacks['messageComplete'],
  }
}

/**
 * Makes a parser see `text` without telling the server. Node's list of connections (idle, active, timed out) reads the
 * parser's own state, which a request that never was text leaves untouched.
 */
export function parseSilently(parser: HttpParser, text: Uint8Array): void {
  const { kOnHeaders, kOnHeadersComplete, kOnMessageComplete, kOnBody } = parserClassOf(parser)
  const names = [kOnHeaders, kOnHeadersComplete, kOnMessageComplete, kOnBody]
  const callbacks = names.map((name) => parser[name]!)
  for (const name of names) parser[name] = null
  // The parser gives the headers of `text` as trailers at its end, for no callback took them before. Node's own would keep
  // them for the next request on the connection.
  parser[kOnHeaders] = () => {}
  try {
    parser.execute(text)
  } finally {
    for (const [index, name] of names.entries()) parser[name] = callbacks[index]!
  }
}
