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
 * The workers of an app trust each other, but a bug in one must not raise an exception in another.
 */
export function isRequestValue(value: unknown): value is RequestValue {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [path, lines, body] = value as unknown[]
  return typeof path === 'string' && typeof lines === 'string' && (body === null || isChunk(body))
}

export function isHeadValue(value: unknown): value is HeadValue {
  if (!Array.isArray(value)) return false
  const [status, statusText, lines, body] = value as unknown[]
  if (!isStatus(status) || typeof statusText !== 'string' || typeof lines !== 'string') return false
  if (!reasonPhrase.test(statusText)) return false
  return body === undefined || body === null || isChunk(body)
}

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
