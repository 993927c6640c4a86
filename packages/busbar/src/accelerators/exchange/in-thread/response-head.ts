import { maxHeaderSize, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import { isWireSafe } from '../header-values.ts'
import {
  hasBody,
  type HeadState,
  headersSetOn,
  isMaxOfRequests,
  keepAliveTimeoutOf,
  maxRequestsOf,
  readHeadState,
  type SetHeaders,
  uniqueHeadersOf,
  writeHeadState,
} from '../../../node/response.ts'

/** How the caller finds the end of the body. */
export type Framing =
  /** HEAD, 204, 304. */
  | 'none'
  /** `Content-Length` set by Node, from the one chunk that was given to `end`. */
  | 'whole'
  /** `Content-Length` set by the program. It may be wrong. */
  | 'stated'
  | 'chunked'
  /** The body ends with the connection. */
  | 'close'

const closing = /(?:^|\W)close(?:$|\W)/i
const digits = /^\d{1,15}$/

/**
 * Builds a response's head as Node does (lib/_http_outgoing.js), as fields instead of text: the
 * same headers in the same order, the same state on the response, the same errors.
 *
 * Undefined for a head whose meaning depends on its bytes (characters beyond ASCII, contradictory
 * lengths, an `Upgrade`): it must become text. Node's own code then sets the same state again.
 */
export function captureHead(response: ServerResponse, headers: unknown): CapturedHead | undefined {
  if (response.statusCode < 200 || response.chunkedEncoding || !isWireSafe(response.statusMessage)) return undefined
  const head = new CapturedHead(response)
  try {
    if (headers) head.addAll(response, headers)
    return head.isWireSafe && head.complete(response) ? head : undefined
  } finally {
    writeHeadState(response, head)
  }
}

export class CapturedHead implements ResponseHead, HeadState {
  readonly status: number
  readonly statusText: string
  /** A header that Node adds was not set by the program, so it is set without a check. */
  readonly headers: Record<string, string | string[]> = {}
  readonly rawHeaders: string[] = []
  framing: Framing = 'close'
  /** Length of the body, with framing `stated` and `whole`; else -1. */
  length = -1
  /** False if the response says `connection: close`. */
  keepAlive = true
  /** The head means the same as fields and as bytes. */
  isWireSafe = true
  last = false
  bodyLength: number | null = null
  statesKeepAlive = false
  removedConnection = false
  removedLength = false
  removedCoding = false
  #size: number
  #date = false
  #connection = false
  #coding = false
  #trailer = false

  constructor(response: ServerResponse) {
    this.status = response.statusCode
    this.statusText = response.statusMessage
    this.#size = response.statusMessage.length
    readHeadState(response, this)
  }

  addAll(response: ServerResponse, headers: unknown): void {
    if (headers === headersSetOn(response)) {
      // A sixth faster than `for in`, which is slow on an object without a prototype.
      for (const key of Object.keys(headers as SetHeaders)) {
        const entry = (headers as SetHeaders)[key]!
        this.#add(response, entry[0], key, entry[1], false)
      }
    } else if (Array.isArray(headers)) this.#addList(response, headers)
    else {
      const record = headers as Record<string, unknown>
      for (const name in record) if (Object.hasOwn(record, name)) this.#check(response, name, record[name])
    }
  }

  /**
   * Adds what follows the program's own headers. Returns false if Node's code must build the head.
   */
  complete(response: ServerResponse): boolean {
    if (response.sendDate && !this.#date) {
      const date = utcDate()
      this.headers.date = date
      this.#putLine('Date', date)
    }
    // Not earlier: if Node's code has to build the head, it would encode a Content-Disposition
    // differently after this.
    if (this.length >= 0) this.bodyLength = this.length
    // These statuses have no chunks: the connection must close (RFC 9112, 6.1).
    if (this.#coding && (this.status === 204 || this.status === 304)) response.shouldKeepAlive = false
    this.#stateConnection(response)
    this.framing = this.#stateLength(response)
    // Without chunks there are no trailers: Node throws.
    if (this.#trailer && this.framing !== 'chunked') return false
    return this.#size < maxHeaderSize
  }

  #stateConnection(response: ServerResponse): void {
    if (this.removedConnection) this.last = !response.shouldKeepAlive
    else if (!this.#connection) {
      const bounded = this.length >= 0 || response.useChunkedEncodingByDefault
      if (!response.shouldKeepAlive || !bounded) {
        this.last = true
        this.#putClose()
      } else if (isMaxOfRequests(response)) this.#putClose()
      else this.#putKeepAlive(response)
    }
  }

  #putClose(): void {
    this.keepAlive = false
    this.headers.connection = 'close'
    this.#putLine('Connection', 'close')
  }

  #putKeepAlive(response: ServerResponse): void {
    this.headers.connection = 'keep-alive'
    this.#putLine('Connection', 'keep-alive')
    const timeout = keepAliveTimeoutOf(response)
    if (!timeout || !this.statesKeepAlive) return
    const value = keepAliveValue(timeout, maxRequestsOf(response))
    this.headers['keep-alive'] = value
    this.#putLine('Keep-Alive', value)
  }

  #stateLength(response: ServerResponse): Framing {
    if (!hasBody(response)) return 'none'
    if (this.length >= 0) return 'stated'
    if (this.#coding) return 'chunked'
    if (response.useChunkedEncodingByDefault) {
      const length = this.bodyLength
      if (!this.#trailer && !this.removedLength && typeof length === 'number') {
        this.length = length
        const value = `${length}`
        this.headers['content-length'] = value
        this.#putLine('Content-Length', value)
        return 'whole'
      }
      if (!this.removedCoding) {
        this.headers['transfer-encoding'] = 'chunked'
        this.#putLine('Transfer-Encoding', 'chunked')
        return 'chunked'
      }
    }
    this.last = true
    return 'close'
  }

  #addList(response: ServerResponse, headers: readonly unknown[]): void {
    if (Array.isArray(headers[0]))
      for (const [name, value] of headers as [string, unknown][]) this.#check(response, name, value)
    // Node's code throws for this.
    else if (headers.length % 2 !== 0) this.isWireSafe = false
    else for (let n = 0; n < headers.length; n += 2) this.#check(response, headers[n] as string, headers[n + 1])
  }

  #check(response: ServerResponse, name: string, value: unknown): void {
    validateHeaderName(name)
    this.#add(response, name, name.toLowerCase(), value, true)
  }

  #add(response: ServerResponse, name: string, key: string, value: unknown, check: boolean): void {
    if (!Array.isArray(value)) this.#store(response, name, key, value, check)
    else if (isJoined(response, key, value)) this.#store(response, name, key, value.join('; '), check)
    else for (const one of value) this.#store(response, name, key, one, check)
  }

  #store(response: ServerResponse, name: string, key: string, value: unknown, check: boolean): void {
    if (check) validateHeaderValue(name, value as string)
    const text = typeof value === 'string' ? value : `${value as number}`
    if (!isWireSafe(text)) this.isWireSafe = false
    this.#put(name, key, text)
    if (key.length >= 4 && key.length <= 17) this.#match(response, key, text)
  }

  #match(response: ServerResponse, key: string, value: string): void {
    switch (key) {
      case 'connection':
        this.#connection = true
        this.removedConnection = false
        if (closing.test(value)) {
          this.last = true
          this.keepAlive = false
        } else response.shouldKeepAlive = true
        break
      case 'transfer-encoding':
        // The parser must check any other coding, and a length beside it.
        if (this.#coding || this.length >= 0 || value !== 'chunked') this.isWireSafe = false
        this.#coding = true
        this.removedCoding = false
        break
      case 'content-length':
        if (this.#coding || this.length >= 0 || !digits.test(value)) this.isWireSafe = false
        this.length = +value
        this.removedLength = false
        break
      case 'date':
        this.#date = true
        break
      case 'trailer':
        this.#trailer = true
        break
      case 'keep-alive':
        this.statesKeepAlive = false
        break
      case 'expect':
      case 'upgrade':
      case '__proto__':
        this.isWireSafe = false
    }
  }

  #putLine(name: string, value: string): void {
    this.rawHeaders.push(name, value)
    this.#size += name.length + value.length
  }

  #put(name: string, key: string, value: string): void {
    this.#putLine(name, value)
    const known = this.headers[key]
    if (known === undefined) this.headers[key] = value
    else if (typeof known === 'string') this.headers[key] = [known, value]
    else if (Array.isArray(known)) known.push(value)
    // The name of a property that all objects have.
    else this.headers[key] = value
  }
}

function isJoined(response: ServerResponse, key: string, values: readonly unknown[]): boolean {
  if (values.length >= 2 && key === 'cookie') return true
  return uniqueHeadersOf(response)?.has(key) === true
}

let keepAlive = { timeout: NaN, max: null as number | null, value: '' }

/** Cached: it is the same for all responses of a server. */
function keepAliveValue(timeout: number, max: number | null): string {
  if (timeout !== keepAlive.timeout || max !== keepAlive.max) {
    const limit = ~~max! > 0 ? `, max=${max}` : ''
    keepAlive = { timeout, max, value: `timeout=${Math.floor(timeout / 1000)}${limit}` }
  }
  return keepAlive.value
}

/** Saved before programs start: fake clocks replace them, and Node's own code keeps these. */
const { Date, setTimeout } = globalThis

let date: string | undefined

/** The value of a `Date` header. Like Node, makes it once a second. */
function utcDate(): string {
  if (date === undefined) {
    const now = new Date()
    date = now.toUTCString()
    setTimeout(forgetDate, 1000 - now.getMilliseconds()).unref()
  }
  return date
}

function forgetDate(): void {
  date = undefined
}
