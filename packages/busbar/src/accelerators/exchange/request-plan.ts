import { maxHeaderSize, Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import { hopsHeader } from '../../mesh/sockets/hops-header.ts'
import type { ExchangeRequest } from '../../mesh/http/exchange.ts'
import { isWireSafe } from './header-values.ts'

/** What the server's parser would have found in the text of the request. */
export interface RequestPlan {
  /** llhttp's number of the method. */
  readonly method: number
  /** False for `Connection: close`. */
  readonly keepAlive: boolean
  /** -1 if no length was stated. */
  readonly contentLength: number
  readonly chunked: boolean
}

const token = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/
const notInPath = /[^\x21-\x7e]/
const digits = /^\d{1,15}$/

/**
 * Room for the text that the parser gets (`virtual-socket.ts`), and for the framing of the body.
 */
const reserve = 96
/** Entries in `rawHeaders` of the field that frames the body: its name and its value. */
const framing = 2

/**
 * Undefined for a request that goes over a byte stream instead: an invalid one, so that the client
 * throws its own error; one that the parser must check (contradictory lengths, headers beyond the
 * limit, a space at a value's end); and one that leaves HTTP (upgrades, CONNECT).
 */
export function planRequest(
  methods: ReadonlyMap<string, number>,
  limits: RequestLimits,
  request: ExchangeRequest,
): RequestPlan | undefined {
  const method = methods.get(request.method)
  if (method === undefined || request.method === 'CONNECT' || request.httpVersion === '1.0') return undefined
  if (request.path.charCodeAt(0) !== 0x2f || notInPath.test(request.path)) return undefined
  const draft = new Draft(method, request.path.length)
  const { rawHeaders } = request
  if (rawHeaders.length + framing > limits.maxStrings) return undefined
  for (let n = 0; n < rawHeaders.length; n += 2) if (!draft.add(rawHeaders[n]!, rawHeaders[n + 1])) return undefined
  if (draft.hasHops) dropHops(rawHeaders)
  return draft.size + reserve < limits.maxHeaderSize && draft.fits(request) ? draft : undefined
}

/**
 * An exchange carries the number of hops itself. A byte stream removes the header at its other end.
 */
function dropHops(rawHeaders: string[]): void {
  for (let n = rawHeaders.length - 2; n >= 0; n -= 2)
    if (rawHeaders[n]!.toLowerCase() === hopsHeader) rawHeaders.splice(n, 2)
}

/** A server's limits for the head of a request. */
export interface RequestLimits {
  readonly maxHeaderSize: number
  /**
   * Length of `rawHeaders`: twice the number of fields. Beyond it, a server drops fields or sends
   * 431.
   */
  readonly maxStrings: number
}

export const noLimits: RequestLimits = { maxHeaderSize: Infinity, maxStrings: Infinity }

/** The limits of a server without options. */
const defaultLimits: RequestLimits = { maxHeaderSize, maxStrings: 2000 }

/** Undefined for a server that does not speak HTTP/1. */
export function limitsOf(server: unknown): RequestLimits | undefined {
  if (!(server instanceof HttpServer || server instanceof HttpsServer)) return undefined
  return (server as { maxHeaderSize?: number }).maxHeaderSize || server.maxHeadersCount !== null
    ? ownLimits(server)
    : defaultLimits
}

function ownLimits(server: { maxHeaderSize?: number; maxHeadersCount: number | null }): RequestLimits {
  const { maxHeadersCount } = server
  return {
    maxHeaderSize: server.maxHeaderSize || maxHeaderSize,
    maxStrings: typeof maxHeadersCount !== 'number' ? 2000 : maxHeadersCount > 0 ? maxHeadersCount * 2 : Infinity,
  }
}

/** Adds the framing header that the body needs, if the client has stated none. */
export function addFraming(plan: RequestPlan, { rawHeaders, body, streamed }: ExchangeRequest): void {
  if (plan.contentLength !== -1 || plan.chunked) return
  if (streamed) rawHeaders.push('transfer-encoding', 'chunked')
  else if (body !== null && body.length > 0) rawHeaders.push('content-length', String(Buffer.byteLength(body)))
}

class Draft implements RequestPlan {
  readonly method: number
  keepAlive = true
  contentLength = -1
  chunked = false
  hasHops = false
  size: number

  constructor(method: number, size: number) {
    this.method = method
    this.size = size
  }

  /** Returns false for a header that only a byte stream carries exactly. */
  add(name: string, value: string | undefined): boolean {
    if (typeof value !== 'string' || !isWireSafe(value)) return false
    this.size += name.length + value.length
    const kind = kinds.get(name) ?? kindOf(name)
    if (kind === 'ordinary') return true
    return kind !== 'refused' && this.#interpret(kind, value)
  }

  fits({ body, streamed }: ExchangeRequest): boolean {
    if (streamed || this.contentLength === -1) return true
    return this.contentLength === (body === null ? 0 : Buffer.byteLength(body))
  }

  #interpret(kind: Exclude<Kind, 'ordinary' | 'refused'>, value: string): boolean {
    switch (kind) {
      case hopsHeader:
        this.hasHops = true
        return true
      case 'connection':
        // Among several fields, a parser remembers that one of them closes.
        if (!this.keepAlive) return false
        this.keepAlive = value !== 'close'
        return value === 'close' || value === 'keep-alive'
      case 'content-length':
        if (this.contentLength !== -1 || this.chunked || !digits.test(value)) return false
        this.contentLength = Number(value)
        return true
      case 'transfer-encoding':
        if (this.contentLength !== -1 || this.chunked || value !== 'chunked') return false
        this.chunked = true
        return true
    }
  }
}

type Kind = 'ordinary' | 'refused' | 'connection' | 'content-length' | 'transfer-encoding' | typeof hopsHeader

/** By name as written. Most requests have the same few names. */
const kinds = new Map<string, Kind>()
const maxKinds = 1024

function kindOf(name: string): Kind {
  const kind = classify(name)
  if (kinds.size < maxKinds && name.length < 64) kinds.set(name, kind)
  return kind
}

function classify(name: string): Kind {
  const key = name.toLowerCase()
  switch (key) {
    case 'connection':
    case 'content-length':
    case 'transfer-encoding':
    case hopsHeader:
      return key
    case 'upgrade':
    case 'proxy-connection':
      return 'refused'
    default:
      return token.test(name) ? 'ordinary' : 'refused'
  }
}
