/**
 * How a `ServerResponse` builds its head and sends (lib/_http_outgoing.js): the two lowest methods,
 * which all others call; the state that Node keeps while it builds a head; and the headers that
 * were set. A program may change the prototype of a response, as Express does.
 */
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

export type SendCallback = ((error?: Error | null) => void) | null | undefined

export type Send = (
  this: ServerResponse,
  data: string | Uint8Array,
  encoding: BufferEncoding | ((error?: Error | null) => void) | null | undefined,
  callback?: SendCallback,
  byteLength?: number,
) => boolean

/**
 * `headers`: {@link headersSetOn} if the program set them one by one, else those of `writeHead`.
 */
export type StoreHeader = (this: ServerResponse, firstLine: string, headers: unknown) => void

interface Internals extends ServerResponse {
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

function internals(response: ServerResponse): Internals {
  return response as Internals
}

/**
 * Replaces the two lowest methods. Everything above them, from `writeHead` to `pipe`, stays Node's
 * own code.
 */
export function replaceLowLevelMethods(response: ServerResponse, storeHeader: StoreHeader, send: Send): void {
  internals(response)._storeHeader = storeHeader
  internals(response)._send = send
}

export function replaceSend(response: ServerResponse, send: Send): void {
  internals(response)._send = send
}

const original = {
  storeHeader: internals(ServerResponse.prototype)._storeHeader,
  send: internals(ServerResponse.prototype)._send,
  writeRaw: internals(ServerResponse.prototype)._writeRaw,
  writeToSocket: Reflect.get(Socket.prototype, 'write') as unknown,
}

/**
 * False if a program has replaced one of the methods by which Node's own code sends a response, on
 * the response or on a prototype. What it sends then depends on that method.
 */
export function sendsByOriginalMethods(response: ServerResponse): boolean {
  const { _storeHeader, _send, _writeRaw } = internals(response)
  return (
    _storeHeader === original.storeHeader &&
    _send === original.send &&
    _writeRaw === original.writeRaw &&
    Socket.prototype.write === original.writeToSocket
  )
}

/** Restores Node's two methods. */
export function restoreLowLevelMethods(response: ServerResponse): void {
  delete (response as Partial<Internals>)._storeHeader
  delete (response as Partial<Internals>)._send
}

export function storeHeader(response: ServerResponse, firstLine: string, headers: unknown): void {
  internals(response)._storeHeader(firstLine, headers)
}

/** Writes to the connection, unchanged. */
export function writeRaw(response: ServerResponse, ...args: Parameters<Send>): boolean {
  return internals(response)._writeRaw(...args)
}

/** Marks the head as built. Node only tests whether its text exists. */
export function decideHead(response: ServerResponse, firstLine: string): void {
  internals(response)._header = firstLine
  internals(response)._headerSent = false
}

export function isHeadOut(response: ServerResponse): boolean {
  return internals(response)._headerSent
}

export function putHeadOut(response: ServerResponse): void {
  internals(response)._headerSent = true
}

/** True if the connection ends with this response. */
export function isLast(response: ServerResponse): boolean {
  return internals(response)._last
}

/** The state that Node keeps while it builds a head. */
export interface HeadState {
  /** The connection ends after this response. */
  last: boolean
  /** The length of the data given to `end`, or the head's `content-length`. */
  bodyLength: number | null
  /** Node adds a `Keep-Alive` header. */
  statesKeepAlive: boolean
  removedConnection: boolean
  removedLength: boolean
  removedCoding: boolean
}

export function readHeadState(response: ServerResponse, notes: HeadState): void {
  const from = internals(response)
  notes.last = from._last
  notes.bodyLength = from._contentLength
  notes.statesKeepAlive = from._defaultKeepAlive
  notes.removedConnection = from._removedConnection
  notes.removedLength = from._removedContLen
  notes.removedCoding = from._removedTE
}

export function writeHeadState(response: ServerResponse, notes: HeadState): void {
  const to = internals(response)
  to._last = notes.last
  to._contentLength = notes.bodyLength
  to._defaultKeepAlive = notes.statesKeepAlive
  to._removedConnection = notes.removedConnection
  to._removedContLen = notes.removedLength
  to._removedTE = notes.removedCoding
}

/** False for a response to HEAD, and for some statuses. */
export function hasBody(response: ServerResponse): boolean {
  return internals(response)._hasBody
}

/**
 * What the connection carries for the whole response, at least: its head, and a body of the length
 * that it states. Undefined if it has no body, or states no length.
 */
export function statedBytes(response: ServerResponse): number | undefined {
  const { _header, _contentLength, _hasBody } = internals(response)
  return _hasBody && _header && _contentLength !== null ? _header.length + _contentLength : undefined
}

/**
 * The bytes of the whole response in `encoding`, if `text` begins with its head. Undefined if it
 * has no body, or states no length.
 */
export function wholeBytes(response: ServerResponse, text: string, encoding?: BufferEncoding): number | undefined {
  const { _header, _contentLength, _hasBody, chunkedEncoding } = internals(response)
  if (!_hasBody || chunkedEncoding || !_header || _contentLength === null || !text.startsWith(_header)) return undefined
  return Buffer.byteLength(_header, encoding) + _contentLength
}

/** Undefined if a response has that state. */
export function statedBytesFault(): string | undefined {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.writeHead(200, { 'content-length': 9 })
  const { _header } = internals(response)
  const isWhole = typeof _header === 'string' && /^HTTP[^]*content-length: 9\r\n[^]*\r\n\r\n$/.test(_header)
  if (isWhole && statedBytes(response) === _header.length + 9) return undefined
  return `a response of 9 bytes has the head ${JSON.stringify(_header)} and counts as ${statedBytes(response)} bytes`
}

/** The keep-alive timeout to announce, in milliseconds; 0 for none. */
export function keepAliveTimeoutOf(response: ServerResponse): number {
  return internals(response)._keepAliveTimeout
}

export function maxRequestsOf(response: ServerResponse): number | null {
  return internals(response)._maxRequestsPerSocket
}

export function isMaxOfRequests(response: ServerResponse): boolean {
  return internals(response).maxRequestsOnConnectionReached
}

/** Headers that were set one by one: lower-case name to the name as written and the value. */
export type SetHeaders = Record<string, [name: string, value: unknown]>

const outHeaders = symbolNamed(new ServerResponse(new IncomingMessage(new Socket())), 'kOutHeaders')
const uniqueHeaders = symbolNamed(createServer(), 'kUniqueHeaders')

export function headersSetOn(response: ServerResponse): SetHeaders | null | undefined {
  return (response as unknown as Record<symbol, SetHeaders | null | undefined>)[outHeaders!]
}

/** The server's `uniqueHeaders`: headers whose values are joined. */
export function uniqueHeadersOf(response: ServerResponse): ReadonlySet<string> | null | undefined {
  return (response as unknown as Record<symbol, ReadonlySet<string> | null | undefined>)[uniqueHeaders!]
}

/** Undefined if a response calls those two methods, and keeps that state. */
export function responseFault(): unknown {
  if (outHeaders === undefined || uniqueHeaders === undefined) return 'a response does not expose its headers'
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const seen: unknown[] = []
  const notes = {} as HeadState
  replaceLowLevelMethods(
    response,
    function (firstLine, headers) {
      readHeadState(this, notes)
      seen.push(firstLine, headers === headersSetOn(this), JSON.stringify(headers), hasBody(this))
      decideHead(this, firstLine)
    },
    function (data) {
      seen.push(data, isHeadOut(this))
      return true
    },
  )
  response.setHeader('X-A', 'b')
  response.removeHeader('Connection')
  response.end('body')
  const { last, bodyLength, statesKeepAlive, removedConnection, removedLength, removedCoding } = notes
  seen.push(last, bodyLength, statesKeepAlive, removedConnection, removedLength, removedCoding)
  const found = JSON.stringify(seen)
  const expected = ['HTTP/1.1 200 OK\r\n', true, '{"x-a":["X-A","b"]}', true, 'body', false]
  const noted = [false, 4, true, true, false, false]
  return found === JSON.stringify([...expected, ...noted])
    ? undefined
    : `a response built and sent its head as ${found}`
}

/** Some of Node's objects keep state under symbols that can only be found by their description. */
export function symbolNamed(owner: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(owner).find((symbol) => symbol.description === description)
}
