/**
 * The values of an HTTP call, as every link carries them:
 *
 *     caller                                    callee
 *     open  [path, lines, body] ──→
 *           data: bytes or text …, end: trailers
 *                                      ←──      reply [status, text, lines, body?, trailers?]
 *                                               data: heads while 1xx, then bytes or text …
 *                                               end: trailers
 *
 * `lines` are the header fields: name, value, name, value…, separated by U+007F, which no field
 * contains (RFC 9110, 5.5) and JSON does not escape. Encoding one string costs a fraction of a list
 * of strings. A small body that is complete goes with the head.
 */
import { BusbarError, type ErrorRecord, restoreError } from '../../contract/errors.ts'
import type { ResponseHead } from './exchange.ts'
import { foldHeaders } from './header-fields.ts'

export type Chunk = string | Uint8Array
export type Trailers = Readonly<Record<string, string | string[]>>

export type RequestValue = readonly [path: string, lines: string, body: Chunk | null]
export type HeadValue = readonly [status: number, statusText: string, lines: string, body?: Chunk, trailers?: Trailers]

const separator = '\u007f'

export function toLines(fields: readonly string[]): string {
  return fields.join(separator)
}

/** A request that has arrived. `body`: if it is complete with the head. */
export interface ReceivedRequest {
  readonly path: string
  readonly rawHeaders: string[]
  readonly body: Chunk | null
}

/**
 * Of a {@link RequestValue}. Returns undefined if it is malformed: another app, or a bug in another
 * worker, must not raise an exception in this one, and clients and servers throw for fields that no
 * HTTP message can have.
 */
export function readRequest(value: unknown): ReceivedRequest | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined
  const [path, lines, body] = value as unknown[]
  const rawHeaders = readLines(lines)
  if (typeof path !== 'string' || notInPath.test(path) || rawHeaders === undefined) return undefined
  return body === null || isChunk(body) ? { path, rawHeaders, body } : undefined
}

/** A head that has arrived. `body` and `trailers`: of a response that is complete with it. */
export interface ReceivedHead {
  readonly head: ResponseHead
  readonly body: Chunk | undefined
  readonly trailers: Trailers | undefined
}

/**
 * Of a {@link HeadValue}. Returns undefined if it is malformed, or if its fields or trailers have
 * more than `limit` characters: a host of another app may send any number of them.
 */
export function readHead(value: unknown, limit: number): ReceivedHead | undefined {
  if (!Array.isArray(value)) return undefined
  const [status, statusText, lines, body, trailers] = value as unknown[]
  if (!isStatus(status) || typeof statusText !== 'string' || !reasonPhrase.test(statusText)) return undefined
  const rawHeaders = readLines(lines, limit)
  if (rawHeaders === undefined || (body != null && !isChunk(body))) return undefined
  if (trailers != null && !isTrailers(trailers, limit)) return undefined
  const head = { status, statusText, headers: foldHeaders(rawHeaders), rawHeaders }
  return { head, body: body ?? undefined, trailers: trailers ?? undefined }
}

/** False for more than `limit` characters, too. */
export function isTrailers(value: unknown, limit: number): value is Trailers {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  const fields = Object.entries(value).flatMap(([name, values]) => [values].flat().flatMap((one) => [name, one]))
  return areFields(fields) && fields.reduce((size, text) => size + text.length, 0) <= limit
}

/**
 * Name, value, name, value…, as Node's own parser and `setHeader` check them (RFC 9110, 5.1 and
 * 5.5). One expression for all of them would overflow its stack for what fits into a packet.
 */
export function areFields(fields: unknown): fields is string[] {
  if (!Array.isArray(fields) || fields.length % 2 !== 0) return false
  return fields.every((text: unknown, at) => typeof text === 'string' && (at % 2 === 0 ? isName(text) : isValue(text)))
}

/** A fresh list. */
function readLines(lines: unknown, limit = Infinity): string[] | undefined {
  if (typeof lines !== 'string' || isLarger(lines, limit)) return undefined
  const fields = lines === '' ? [] : lines.split(separator)
  return areFields(fields) ? fields : undefined
}

/** Whether fields have more than `limit` characters. Separators do not count. */
function isLarger(lines: string, limit: number): boolean {
  let size = lines.length
  for (let at = lines.indexOf(separator); at >= 0 && size > limit; at = lines.indexOf(separator, at + 1)) size--
  return size > limit
}

function isName(text: string): boolean {
  return text !== '' && !notInName.test(text)
}

function isValue(text: string): boolean {
  return !notInValue.test(text)
}

/** What Node's clients send and its parser reads. */
const notInPath = /[^\u0021-\u007e\u0080-\u00ff]/
const notInName = /[^\w!#$%&'*+.^`|~-]/
const notInValue = /[^\t\u0020-\u007e\u0080-\u00ff]/

/** What a server of Node can send (RFC 9112, 4). `Response` throws for another text. */
const reasonPhrase = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

function isStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 999
}

export function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}

export function malformed(what: string, service: string): BusbarError {
  return new BusbarError('INTERNAL', { message: `${what} of a call to service '${service}' was malformed`, service })
}

/**
 * Keeps name, message and code of errors by undici and Node's parser, because clients check those.
 */
export function toRecord(error: Error, service: string): ErrorRecord {
  if (BusbarError.is(error)) return error.toRecord()
  const { name, message, cause } = error
  const ours = BusbarError.is(cause) ? cause : new BusbarError('SERVICE_HANGUP', { message, service })
  const foreign: Foreign = { name, message, code: String((error as NodeJS.ErrnoException).code) }
  return { ...ours.toRecord(), data: foreign }
}

export function fromRecord(record: ErrorRecord): Error {
  const ours = restoreError(record)
  if (!isForeign(record.data)) return ours
  const { name, message, code } = record.data
  return Object.assign(new Error(message, { cause: ours }), { name, code })
}

/** An error outside Busbar's table: the fields by which programs identify it. */
interface Foreign {
  readonly name: string
  readonly message: string
  readonly code: string
}

function isForeign(data: unknown): data is Foreign {
  if (typeof data !== 'object' || data === null) return false
  const { name, message, code } = data as Record<keyof Foreign, unknown>
  return typeof name === 'string' && typeof message === 'string' && typeof code === 'string'
}
