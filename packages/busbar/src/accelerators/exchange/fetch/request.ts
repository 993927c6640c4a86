import { isArrayBuffer, isUint8Array } from 'node:util/types'
import type { Addresses, CalledUrl } from '../clients/addresses.ts'
import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { sendsFetchMode } from './defaults.ts'
import { HeaderLines, headerName, headerText } from '../clients/header-lines.ts'

/** A call by `fetch` that needs nothing but an exchange. */
export interface FetchedRequest {
  readonly url: CalledUrl
  readonly request: ExchangeRequest
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly signal: AbortSignal | undefined
}

type Redirect = FetchedRequest['redirect']

const expectPayload = new Set(['POST', 'PUT', 'PATCH'])
const methods = new Map([
  // Without HEAD, behind which the built-in closes its connection.
  ...['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'].flatMap((name) => spellings(name)),
  // In lower case the built-in sends it as it is, and warns.
  ['PATCH', 'PATCH'] as const,
])

/** What an init may say besides. Anything else, in words or in kind, is the built-in's to do. */
const understood = new Set(['method', 'headers', 'body', 'signal', 'redirect', 'duplex'])

/** Request headers that change what the fetch standard sends besides. */
const meaningful = new Set([
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
 * States the request as the built-in `fetch` would send it; undefined for what it should send itself: other names,
 * `Request` objects, streamed and multipart bodies, whatever is wrong, and every option beyond the ordinary.
 */
export function stateFetch(
  addresses: Addresses,
  input: unknown,
  init: RequestInit | undefined,
): FetchedRequest | undefined {
  const url = addresses.ofUrl(typeof input === 'string' ? input : input instanceof URL ? input.href : '')
  if (url === undefined) return undefined
  if (init == null) return bare(url)
  if (typeof init !== 'object') return undefined
  for (const key in init) if (!understood.has(key) && init[key as keyof RequestInit] !== undefined) return undefined
  const method = init.method === undefined ? 'GET' : methods.get(init.method)
  const { redirect = 'follow', signal, body } = init
  if (method === undefined || !isRedirect(redirect)) return undefined
  if (signal != null && (!(signal instanceof AbortSignal) || signal.aborted)) return undefined
  const stated = stateBody(body, method)
  const lines = new HeaderLines(url.address.host)
  if (stated === undefined || !addHeaders(lines, init.headers, stated)) return undefined
  const request = { method, path: url.path, rawHeaders: lines.raw, body: stated.bytes, streamed: false }
  return { url, request, redirect, signal: signal ?? undefined }
}

function bare(url: CalledUrl): FetchedRequest {
  const rawHeaders = ['host', url.address.host, 'connection', 'keep-alive', ...defaultLines]
  const request = { method: 'GET', path: url.path, rawHeaders, body: null, streamed: false }
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

/** In the order that the built-in sends them. */
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

/** A name that comes twice is joined with the first, which is left to the built-in, like what is no plain text. */
function addOne(lines: HeaderLines, name: unknown, given: unknown, stated: Set<string>): boolean {
  const lower = typeof name === 'string' ? headerName(name) : undefined
  if (lower === undefined || stated.has(lower) || meaningful.has(lower)) return false
  const text = given === null ? undefined : headerText(given)
  if (text === undefined) return false
  stated.add(lower)
  return lines.add(name, text)
}

interface StatedBody {
  readonly bytes: string | Uint8Array | null
  /** What the content-length header says. */
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
