import { maxHeaderSize, Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import { hopsHeader } from '../../mesh/hops.ts'
import type { ExchangeRequest } from '../../mesh/http/exchange.ts'
import { isPlain } from './header-values.ts'

/** What the server's parser would have found in the request's text. */
export interface RequestPlan {
  /** As llhttp numbers it. */
  readonly method: number
  /** False: `Connection: close`. */
  readonly keepAlive: boolean
  /** -1 where no length was stated. */
  readonly contentLength: number
  readonly chunked: boolean
}

const token = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/
const notInPath = /[^\x21-\x7e]/
const digits = /^\d{1,15}$/

/** What the parser is shown of a request counts too (`virtual-socket.ts`), and the framing that a body gets. */
const reserve = 96
/** A field for the framing of a body. */
const framing = 2

/**
 * Undefined for a request that the exchange leaves to a byte stream: what is not valid, so that the client refuses it in
 * its own words; what the parser judges (contradictory lengths, headers beyond the limit, a space at a value's end); and
 * what leaves HTTP (upgrades, CONNECT).
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

/** An exchange says by itself how many calls led to it; a byte stream takes the header out at its other end. */
function dropHops(rawHeaders: string[]): void {
  for (let n = rawHeaders.length - 2; n >= 0; n -= 2)
    if (rawHeaders[n]!.toLowerCase() === hopsHeader) rawHeaders.splice(n, 2)
}

/** What a server takes of a request's head. */
export interface RequestLimits {
  readonly maxHeaderSize: number
  /** Of `rawHeaders`: twice the number of fields. Beyond it a server answers 431, or leaves fields out. */
  readonly maxStrings: number
}

export const noLimits: RequestLimits = { maxHeaderSize: Infinity, maxStrings: Infinity }

/** Of a server that was not told otherwise. */
const usualLimits: RequestLimits = { maxHeaderSize, maxStrings: 2000 }

/** Undefined for a server that speaks no HTTP/1. */
export function limitsOf(server: unknown): RequestLimits | undefined {
  if (!(server instanceof HttpServer || server instanceof HttpsServer)) return undefined
  return (server as { maxHeaderSize?: number }).maxHeaderSize || server.maxHeadersCount !== null
    ? ownLimits(server)
    : usualLimits
}

function ownLimits(server: { maxHeaderSize?: number; maxHeadersCount: number | null }): RequestLimits {
  const { maxHeadersCount } = server
  return {
    maxHeaderSize: server.maxHeaderSize || maxHeaderSize,
    maxStrings: typeof maxHeadersCount !== 'number' ? 2000 : maxHeadersCount > 0 ? maxHeadersCount * 2 : Infinity,
  }
}

/** A body has a length or comes in chunks; a client that stated neither means the one it needs. */
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

  /** False for a header that a byte stream must carry. */
  add(name: string, value: string | undefined): boolean {
    if (typeof value !== 'string' || !isPlain(value)) return false
    this.size += name.length + value.length
    const kind = kinds.get(name) ?? kindOf(name)
    if (kind === 'plain') return true
    return kind !== 'refused' && this.#interpret(kind, value)
  }

  fits({ body, streamed }: ExchangeRequest): boolean {
    if (streamed || this.contentLength === -1) return true
    return this.contentLength === (body === null ? 0 : Buffer.byteLength(body))
  }

  #interpret(kind: Exclude<Kind, 'plain' | 'refused'>, value: string): boolean {
    switch (kind) {
      case hopsHeader:
        this.hasHops = true
        return true
      case 'connection':
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

type Kind = 'plain' | 'refused' | 'connection' | 'content-length' | 'transfer-encoding' | typeof hopsHeader

/** Names as they were written; the same few come with every request. */
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
      return token.test(name) ? 'plain' : 'refused'
  }
}
