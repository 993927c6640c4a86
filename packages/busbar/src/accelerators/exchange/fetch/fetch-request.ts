import { maxHeaderSize } from 'node:http'
import { isArrayBuffer, isUint8Array } from 'node:util/types'
import type { ServiceAddresses, ServiceUrl } from '../clients/addresses.ts'
import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'

import { HeaderLines, headerName, headerText } from '../clients/header-lines.ts'

/** A call by `fetch` that an exchange can make. */
export interface FetchRequest {
  readonly url: ServiceUrl
  readonly request: ExchangeRequest
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly signal: AbortSignal | undefined
}

type Redirect = FetchRequest['redirect']

const expectPayload = new Set(['POST', 'PUT', 'PATCH'])
const methods = new Map([
  // Not HEAD: the built-in closes its connection after it.
  ...['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'].flatMap((name) => spellings(name)),
  // The built-in sends a lower-case `patch` unchanged, with a warning.
  ['PATCH', 'PATCH'] as const,
])

/** Supported options. With any other, the built-in makes the call. */
const supported = new Set(['method', 'headers', 'body', 'signal', 'redirect', 'duplex'])

/** Of every request. A client has the limit of Node's own for the head of its response. */
const usual = { streamed: false, maxResponseHead: maxHeaderSize } as const

/** Request headers that affect other headers in the fetch standard. */
const special = new Set([
  'host',
  'content-length',
  'range',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'if-match',
  'if-range',
])

/**
 * The request as the built-in `fetch` would send it. Undefined if the built-in must send it: for
 * other URLs, `Request` objects, streamed and multipart bodies, invalid input and unusual options.
 */
export function toFetchRequest(
  addresses: ServiceAddresses,
  input: unknown,
  init: RequestInit | undefined,
): FetchRequest | undefined {
  const url = addresses.ofUrl(typeof input === 'string' ? input : input instanceof URL ? input.href : '')
  if (url === undefined) return undefined
  if (init == null) return simpleGet(url)
  if (typeof init !== 'object') return undefined
  for (const key in init) if (!supported.has(key) && init[key as keyof RequestInit] !== undefined) return undefined
  const method = init.method === undefined ? 'GET' : methods.get(init.method)
  const { redirect = 'follow', signal, body } = init
  if (method === undefined || !isRedirect(redirect)) return undefined
  if (signal != null && (!(signal instanceof AbortSignal) || signal.aborted)) return undefined
  const stated = stateBody(body, method)
  const lines = new HeaderLines(url.address.host)
  if (stated === undefined || !addHeaders(lines, init.headers, stated)) return undefined
  const request = { method, path: url.path, rawHeaders: lines.raw, body: stated.bytes, ...usual }
  return { url, request, redirect, signal: signal ?? undefined }
}

function simpleGet(url: ServiceUrl): FetchRequest {
  const rawHeaders = ['host', url.address.host, 'connection', 'keep-alive', ...defaultLines]
  const request = { method: 'GET', path: url.path, rawHeaders, body: null, ...usual }
  return { url, request, redirect: 'follow', signal: undefined }
}

const defaults = [
  ['accept', '*/*'],
  ['accept-language', '*'],
  ...(sendsFetchMode() ? ([['sec-fetch-mode', 'cors']] as const) : []),
  ['user-agent', 'node'],
  ['accept-encoding', 'gzip, deflate'],
] as const
const defaultLines = defaults.flat()

/** Adds the headers in the order of the built-in. */
function addHeaders(lines: HeaderLines, headers: RequestInit['headers'], body: StatedBody): boolean {
  const stated = new Set<string>()
  if (headers != null && !addStated(lines, headers, stated)) return false
  if (body.type !== undefined && !stated.has('content-type')) lines.push('content-type', body.type)
  for (const [name, value] of defaults) if (name === 'sec-fetch-mode' || !stated.has(name)) lines.push(name, value)
  if (body.length !== undefined) lines.push('content-length', String(body.length))
  return !stated.has('sec-fetch-mode')
}

function addStated(lines: HeaderLines, headers: NonNullable<RequestInit['headers']>, stated: Set<string>): boolean {
  if (typeof headers !== 'object') return false
  if (Symbol.iterator in headers) {
    for (const pair of headers as Iterable<unknown>)
      if (!Array.isArray(pair) || pair.length !== 2 || !addOne(lines, pair[0], pair[1], stated)) return false
    return true
  }
  const record = headers as Record<string, unknown>
  for (const name of Reflect.ownKeys(record)) if (!addOne(lines, name, record[name as string], stated)) return false
  return true
}

/**
 * Returns false for repeated names, which the built-in joins, and for values that are not plain
 * text.
 */
function addOne(lines: HeaderLines, name: unknown, given: unknown, stated: Set<string>): boolean {
  const lower = typeof name === 'string' ? headerName(name) : undefined
  if (lower === undefined || stated.has(lower) || special.has(lower)) return false
  const text = given === null ? undefined : headerText(given)
  if (text === undefined) return false
  stated.add(lower)
  return lines.add(name, text)
}

interface StatedBody {
  readonly bytes: string | Uint8Array | null
  /** Value of the content-length header. */
  readonly length: number | undefined
  readonly type: string | undefined
}

function stateBody(body: unknown, method: string): StatedBody | undefined {
  if (body == null) return { bytes: null, length: expectPayload.has(method) ? 0 : undefined, type: undefined }
  if (method === 'GET') return undefined
  if (typeof body === 'string') return ofText(body.toWellFormed(), 'text/plain;charset=UTF-8', method)
  if (body instanceof URLSearchParams)
    return ofText(body.toString(), 'application/x-www-form-urlencoded;charset=UTF-8', method)
  if (isUint8Array(body)) return ofLength(body, body.byteLength, undefined, method)
  if (isArrayBuffer(body)) return ofLength(new Uint8Array(body), body.byteLength, undefined, method)
  return undefined
}

function ofText(text: string, type: string, method: string): StatedBody {
  return ofLength(text, Buffer.byteLength(text), type, method)
}

function ofLength(bytes: string | Uint8Array, size: number, type: string | undefined, method: string): StatedBody {
  const length = size > 0 || expectPayload.has(method) ? size : undefined
  return { bytes: size === 0 ? null : bytes, length, type }
}

function isRedirect(redirect: unknown): redirect is Redirect {
  return redirect === 'follow' || redirect === 'error' || redirect === 'manual'
}

function spellings(name: string): [string, string][] {
  return [
    [name, name],
    [name.toLowerCase(), name],
  ]
}

/**
 * True if the built-in `fetch` sends `sec-fetch-mode` to an origin without TLS. The fetch standard
 * reserves the header for trustworthy origins: undici 7 (Node 24) sends it to all, 8 (Node 26) only
 * to those. Tested with a dispatcher that records the headers.
 */
function sendsFetchMode(): boolean {
  let sent: Readonly<Record<string, unknown>> = {}
  const dispatcher = {
    dispatch(options: { headers: typeof sent }): never {
      sent = options.headers
      throw new Error('only the headers were needed')
    },
  }
  const init = { dispatcher } as unknown as RequestInit
  globalThis.fetch('http://service.internal/', init).catch(() => {})
  return 'sec-fetch-mode' in sent
}
