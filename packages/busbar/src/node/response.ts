/**
 * How a `ServerResponse` makes its head and sends (lib/_http_outgoing.js): two methods at the bottom that all others end at, what is
 * noted of a head while it is laid out, and the headers that were set. A program may give a response another prototype (Express
 * does), but nobody overrides these.
 */
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { symbolNamed } from './symbols.ts'

export type SendCallback = ((error?: Error | null) => void) | null | undefined

export type Send = (
  this: ServerResponse,
  data: string | Uint8Array,
  encoding: BufferEncoding | ((error?: Error | null) => void) | null | undefined,
  callback?: SendCallback,
  byteLength?: number,
) => boolean

/** `headers`: {@link headersSetOn} where the program set them one by one, else what it gave to `writeHead`. */
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

/** Puts own functions in place of the two lowest methods. All above them, from `writeHead` to `pipe`, is Node's own code. */
export function replaceSteps(response: ServerResponse, storeHeader: StoreHeader, send: Send): void {
  internals(response)._storeHeader = storeHeader
  internals(response)._send = send
}

export function replaceSend(response: ServerResponse, send: Send): void {
  internals(response)._send = send
}

/** Gives Node its two methods back. */
export function restoreSteps(response: ServerResponse): void {
  delete (response as Partial<Internals>)._storeHeader
  delete (response as Partial<Internals>)._send
}

export function storeHeader(response: ServerResponse, firstLine: string, headers: unknown): void {
  internals(response)._storeHeader(firstLine, headers)
}

/** To the connection, as it is. */
export function writeRaw(response: ServerResponse, ...args: Parameters<Send>): boolean {
  return internals(response)._writeRaw(...args)
}

/** The head needs no text: it is only ever asked for its presence. */
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

/** The connection ends with this response. */
export function isLast(response: ServerResponse): boolean {
  return internals(response)._last
}

/** What Node notes of a head while it lays it out. */
export interface HeadNotes {
  /** The connection ends behind it. */
  last: boolean
  /** What `end` was given, or what the head says. */
  bodyLength: number | null
  /** Node states `Keep-Alive`. */
  statesKeepAlive: boolean
  removedConnection: boolean
  removedLength: boolean
  removedCoding: boolean
}

export function readNotes(response: ServerResponse, notes: HeadNotes): void {
  const from = internals(response)
  notes.last = from._last
  notes.bodyLength = from._contentLength
  notes.statesKeepAlive = from._defaultKeepAlive
  notes.removedConnection = from._removedConnection
  notes.removedLength = from._removedContLen
  notes.removedCoding = from._removedTE
}

export function writeNotes(response: ServerResponse, notes: HeadNotes): void {
  const to = internals(response)
  to._last = notes.last
  to._contentLength = notes.bodyLength
  to._defaultKeepAlive = notes.statesKeepAlive
  to._removedConnection = notes.removedConnection
  to._removedContLen = notes.removedLength
  to._removedTE = notes.removedCoding
}

/** False for an answer to HEAD, and with some statuses. */
export function hasBody(response: ServerResponse): boolean {
  return internals(response)._hasBody
}

/** Milliseconds that the server keeps the connection for the next request; 0 where it does not say so. */
export function keepAliveTimeoutOf(response: ServerResponse): number {
  return internals(response)._keepAliveTimeout
}

export function maxRequestsOf(response: ServerResponse): number | null {
  return internals(response)._maxRequestsPerSocket
}

export function isMaxOfRequests(response: ServerResponse): boolean {
  return internals(response).maxRequestsOnConnectionReached
}

/** Headers set one by one: lower-case name to the name as written and its value. */
export type SetHeaders = Record<string, [name: string, value: unknown]>

const outHeaders = symbolNamed(new ServerResponse(new IncomingMessage(new Socket())), 'kOutHeaders')
const uniqueHeaders = symbolNamed(createServer(), 'kUniqueHeaders')

export function headersSetOn(response: ServerResponse): SetHeaders | null | undefined {
  return (response as unknown as Record<symbol, SetHeaders | null | undefined>)[outHeaders!]
}

/** The server's `uniqueHeaders`: those whose values are joined. */
export function uniqueHeadersOf(response: ServerResponse): ReadonlySet<string> | null | undefined {
  return (response as unknown as Record<symbol, ReadonlySet<string> | null | undefined>)[uniqueHeaders!]
}

/** Undefined where a response ends at those two methods, with what it notes. */
export function responseFault(): unknown {
  if (outHeaders === undefined || uniqueHeaders === undefined) return 'a response does not show its headers'
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const seen: unknown[] = []
  const notes = {} as HeadNotes
  replaceSteps(
    response,
    function (firstLine, headers) {
      readNotes(this, notes)
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
  return found === JSON.stringify([...expected, ...noted]) ? undefined : `a response made and sent its head as ${found}`
}
