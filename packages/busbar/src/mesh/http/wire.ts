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

/** A fresh list. */
export function fromLines(lines: string): string[] {
  return lines === '' ? [] : lines.split(separator)
}

export function toHead([status, statusText, lines]: HeadValue): ResponseHead {
  const rawHeaders = fromLines(lines)
  return { status, statusText, headers: foldHeaders(rawHeaders), rawHeaders }
}

/**
 * Another app, or a bug in another worker, must not raise an exception in this one: clients and
 * servers throw for fields that no HTTP message can have.
 */
export function isRequestValue(value: unknown): value is RequestValue {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [path, lines, body] = value as unknown[]
  return typeof path === 'string' && areLines(lines) && (body === null || isChunk(body))
}

export function isHeadValue(value: unknown): value is HeadValue {
  if (!Array.isArray(value)) return false
  const [status, statusText, lines, body, trailers] = value as unknown[]
  if (!isStatus(status) || typeof statusText !== 'string' || !areLines(lines)) return false
  if (!reasonPhrase.test(statusText)) return false
  return (body == null || isChunk(body)) && (trailers == null || isTrailers(trailers))
}

export function isTrailers(value: unknown): value is Trailers {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  const fields = Object.entries(value).flatMap(([name, values]) => [values].flat().flatMap((one) => [name, one]))
  return areFields(fields)
}

/**
 * Name, value, name, value…, as Node's own parser and `setHeader` check them (RFC 9110, 5.1 and
 * 5.5). One expression for all of them would overflow its stack for what fits into a packet.
 */
export function areFields(fields: unknown): fields is string[] {
  if (!Array.isArray(fields) || fields.length % 2 !== 0) return false
  return fields.every((text: unknown, at) => typeof text === 'string' && (at % 2 === 0 ? isName(text) : isValue(text)))
}

function areLines(lines: unknown): lines is string {
  return typeof lines === 'string' && areFields(fromLines(lines))
}

function isName(text: string): boolean {
  return text !== '' && !notInName.test(text)
}

function isValue(text: string): boolean {
  return !notInValue.test(text)
}

const notInName = /[^\w!#$%&'*+.^`|~-]/
const notInValue = /[^\t\u0020-\u007e\u0080-\u00ff]/

/** What a server of Node can send (RFC 9112, 4). `Response` throws for another text. */
const reasonPhrase = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

function isStatus(status: unknown): boolean {
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
