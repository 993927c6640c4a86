import { maxHeaderSize } from 'node:http'
import { stringify } from 'node:querystring'
import type { Readable } from 'node:stream'
import { isUint8Array } from 'node:util/types'
import type { Address } from '../clients/addresses.ts'
import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { HeaderLines } from '../clients/header-lines.ts'

/** The options of undici's `dispatch`: undici's own, and any others that the caller has passed. */
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

export interface DispatchRequest {
  readonly request: ExchangeRequest
  /** The source of a streamed body. */
  readonly stream: BodyStream | undefined
  /** Stated length of a streamed body, in bytes. */
  readonly promised: number | undefined
  /** Milliseconds. Undefined for undici's default. */
  readonly headersTimeout: number | undefined
  readonly bodyTimeout: number | undefined
}

/** Methods for which undici states the length of an empty body. */
const expectPayload = new Set(['PUT', 'POST', 'PATCH'])
/** Not HEAD: undici closes its connection after it. */
const methods = new Set(['GET', 'OPTIONS', 'TRACE', 'DELETE', ...expectPayload])

/** Options that an exchange does not support. */
const unsupported = ['upgrade', 'expectContinue', 'reset', 'throwOnError', 'maxRedirections', 'servername'] as const

/**
 * The request as the callee will get it. Undefined for requests that are rare, invalid, or
 * different between the versions of undici: the caller's own dispatcher then sends them or throws.
 */
export function toDispatchRequest(address: Address, options: DispatchOptions): DispatchRequest | undefined {
  const { method, path, query, headersTimeout, bodyTimeout } = options
  if (!methods.has(method) || typeof path !== 'string' || !/^\/[\x21-\xff]*$/.test(path)) return undefined
  for (const option of unsupported) if (options[option]) return undefined
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
      maxResponseHead: maxHeaderSize,
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
  // Blob and FormData need a content type, and a copy of undici encodes only its own FormData.
  if (Symbol.toStringTag in body && /^(?:Blob|File|FormData)$/.test(String(body[Symbol.toStringTag]))) return undefined
  if ('pipe' in body && !isFreshReadable(body)) return undefined
  if (!(Symbol.asyncIterator in body) && !(Symbol.iterator in body)) return undefined
  // The framing is decided by the first chunk: a stream without chunks is sent as an empty body.
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

/** For other streams, undici finds their length, or that they have ended or failed. */
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

/** The streamed request with its framing, which depends on whether there is a first chunk. */
export function withFraming(stated: DispatchRequest, empty: boolean): ExchangeRequest {
  const { request, promised } = stated
  const rawHeaders = [...request.rawHeaders]
  if (!empty && promised === undefined) rawHeaders.push('transfer-encoding', 'chunked')
  else if (!empty) rawHeaders.push('content-length', String(promised))
  else if (expectPayload.has(request.method)) rawHeaders.push('content-length', '0')
  return { ...request, rawHeaders, streamed: !empty }
}
