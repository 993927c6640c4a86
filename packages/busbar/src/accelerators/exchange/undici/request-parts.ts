import { stringify } from 'node:querystring'
import type { Readable } from 'node:stream'
import { isUint8Array } from 'node:util/types'
import type { Address } from '../clients/addresses.ts'
import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { HeaderLines } from '../clients/header-lines.ts'

/** What undici's `dispatch` is given: its own validated options beside whatever else the caller passed. */
export interface DispatchOptions {
  readonly origin?: string | URL
  readonly path: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly query?: Record<string, unknown> | null
  readonly headersTimeout?: number | null
  readonly bodyTimeout?: number | null
  readonly [option: string]: unknown
}

export type BodyStream = AsyncIterable<unknown> | Iterable<unknown>

export interface StatedRequest {
  readonly request: ExchangeRequest
  /** Where `request.streamed`: what it comes from. */
  readonly stream: BodyStream | undefined
  /** Of a stream: how many bytes its headers promise. */
  readonly promised: number | undefined
  /** Undefined: undici's default. */
  readonly headersTimeout: number | undefined
  readonly bodyTimeout: number | undefined
}

/** Methods for which undici states the length of an empty body. */
const expectPayload = new Set(['PUT', 'POST', 'PATCH'])
/** Without HEAD, behind which undici closes its connection. */
const methods = new Set(['GET', 'OPTIONS', 'TRACE', 'DELETE', ...expectPayload])

/** Options that make a request something else than one plain HTTP/1.1 exchange with default behaviour. */
const declined = ['upgrade', 'expectContinue', 'reset', 'throwOnError', 'maxRedirections', 'servername'] as const

/**
 * The request as the callee will get it, or undefined for everything that is rare, wrong, or different between the
 * versions of undici: the caller's own dispatcher then does it, or throws its own error.
 */
export function stateRequest(address: Address, options: DispatchOptions): StatedRequest | undefined {
  const { method, path, query, headersTimeout, bodyTimeout } = options
  if (!methods.has(method) || typeof path !== 'string' || !/^\/[\x21-\xff]*$/.test(path)) return undefined
  for (const option of declined) if (options[option]) return undefined
  if (options['throwOnError'] != null || !isLimit(headersTimeout) || !isLimit(bodyTimeout)) return undefined
  if (query && /[?#]/.test(path)) return undefined
  const lines = new HeaderLines(address.host)
  if (!addHeaders(lines, options.headers)) return undefined
  const body = stateBody(options.body, method, lines)
  if (body === undefined) return undefined
  const search = query ? stringify(query as Record<string, string>) : ''
  return {
    request: {
      method,
      path: search === '' ? path : `${path}?${search}`,
      rawHeaders: lines.raw,
      body: body.whole,
      streamed: body.stream !== undefined,
    },
    stream: body.stream,
    promised: body.stream === undefined ? undefined : lines.contentLength,
    headersTimeout: headersTimeout ?? undefined,
    bodyTimeout: bodyTimeout ?? undefined,
  }
}

function isLimit(limit: unknown): boolean {
  return limit == null || (Number.isFinite(limit) && (limit as number) >= 0)
}

function addHeaders(lines: HeaderLines, headers: unknown): boolean {
  if (headers == null) return true
  if (typeof headers !== 'object') return false
  if (Array.isArray(headers)) {
    if (headers.length % 2 !== 0) return false
    for (let i = 0; i < headers.length; i += 2) if (!lines.add(headers[i], headers[i + 1])) return false
    return true
  }
  if (Symbol.iterator in headers) {
    for (const pair of headers as Iterable<unknown>)
      if (!Array.isArray(pair) || pair.length !== 2 || !lines.add(pair[0], pair[1])) return false
    return true
  }
  const record = headers as Record<string, unknown>
  for (const name of Object.keys(record)) if (!lines.add(name, record[name])) return false
  return true
}

interface StatedBody {
  readonly whole: string | Uint8Array | null
  readonly stream: BodyStream | undefined
}

function stateBody(body: unknown, method: string, lines: HeaderLines): StatedBody | undefined {
  if (body == null) return stateWhole(null, 0, method, lines)
  if (typeof body === 'string') return stateWhole(body, Buffer.byteLength(body), method, lines)
  if (isUint8Array(body)) return stateWhole(body, body.byteLength, method, lines)
  if (typeof body !== 'object' || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return undefined
  // A Blob or FormData has a type to state, FormData a form that each copy of undici reads only in its own.
  if (Symbol.toStringTag in body && /^(?:Blob|File|FormData)$/.test(String(body[Symbol.toStringTag]))) return undefined
  if ('pipe' in body && !isFreshReadable(body)) return undefined
  if (!(Symbol.asyncIterator in body) && !(Symbol.iterator in body)) return undefined
  // The framing is said when the first chunk is there: a stream without any is sent as a body of length 0.
  return { whole: null, stream: body as BodyStream }
}

function stateWhole(
  body: string | Uint8Array | null,
  length: number,
  method: string,
  lines: HeaderLines,
): StatedBody | undefined {
  if (lines.contentLength !== undefined && lines.contentLength !== length) return undefined
  if (length > 0 || expectPayload.has(method)) lines.push('content-length', String(length))
  return { whole: length === 0 ? null : body, stream: undefined }
}

/** Of other streams undici finds out the length, or that they have ended or failed. */
function isFreshReadable(body: object): boolean {
  const stream = body as Partial<Readable>
  return (
    Symbol.asyncIterator in body &&
    stream.readable === true &&
    stream.readableEnded === false &&
    stream.readableFlowing === null &&
    stream.destroyed === false &&
    stream.readableObjectMode === false
  )
}

/** What the head of a streamed request says of its body once its first chunk is known. */
export function frameStream(stated: StatedRequest, empty: boolean): ExchangeRequest {
  const { request, promised } = stated
  const rawHeaders = [...request.rawHeaders]
  if (!empty && promised === undefined) rawHeaders.push('transfer-encoding', 'chunked')
  else if (!empty) rawHeaders.push('content-length', String(promised))
  else if (expectPayload.has(request.method)) rawHeaders.push('content-length', '0')
  return { ...request, rawHeaders, streamed: !empty }
}
