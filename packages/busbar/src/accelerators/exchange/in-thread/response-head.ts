import {
  createServer,
  IncomingMessage,
  maxHeaderSize,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import { Socket } from 'node:net'
import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import { utcDate } from '../../../mesh/http/utc-date.ts'
import { isPlain } from '../header-values.ts'
import { symbolNamed } from '../../../node/parser.ts'
import type { OutHeaders, ResponseInternals } from '../../../node/parser.ts'

/** How the caller knows where the body ends. */
export type Framing =
  /** HEAD, 204, 304. */
  | 'none'
  /** `Content-Length` by Node itself, from the one chunk that `end` was given. */
  | 'whole'
  /** `Content-Length` by the program, which may be wrong. */
  | 'stated'
  | 'chunked'
  /** By the end of the connection. */
  | 'close'

const outHeaders = symbolNamed(new ServerResponse(new IncomingMessage(new Socket())), 'kOutHeaders')!
const uniqueHeaders = symbolNamed(createServer(), 'kUniqueHeaders')!

const closing = /(?:^|\W)close(?:$|\W)/i
const digits = /^\d{1,15}$/

/**
 * Lays out a response's head as Node's `_storeHeader` does (lib/_http_outgoing.js), as fields instead of text: the same
 * headers in the same order, the same flags left on the response, the same errors thrown.
 *
 * Undefined for a head that is not plain: what a client makes of it depends on how Node writes it as bytes (characters
 * beyond ASCII, contradictory lengths, an `Upgrade`), so it has to become text. The flags set so far are those that
 * Node's own code will set again.
 */
export function catchHead(response: ResponseInternals, headers: unknown): CaughtHead | undefined {
  if (response.statusCode < 200 || response.chunkedEncoding || !isPlain(response.statusMessage)) return undefined
  const head = new CaughtHead(response)
  if (headers) head.addAll(response, headers)
  return head.plain && head.complete(response) ? head : undefined
}

export class CaughtHead implements ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Where Node itself adds a header, the program has not: its name can be set without a look. */
  readonly headers: Record<string, string | string[]> = {}
  readonly rawHeaders: string[] = []
  framing: Framing = 'close'
  /** With framing `stated` and `whole`. */
  length = -1
  /** False: the response says `connection: close`. */
  keepAlive = true
  plain = true
  #size: number
  #date = false
  #connection = false
  #coding = false
  #trailer = false

  constructor(response: ResponseInternals) {
    this.status = response.statusCode
    this.statusText = response.statusMessage
    this.#size = response.statusMessage.length
  }

  addAll(response: ResponseInternals, headers: unknown): void {
    if (headers === (response as unknown as Record<symbol, unknown>)[outHeaders]) {
      // A sixth faster than `for in`, which such an object without a prototype is slow at.
      for (const key of Object.keys(headers as OutHeaders)) {
        const entry = (headers as OutHeaders)[key]!
        this.#add(response, entry[0], key, entry[1], false)
      }
    } else if (Array.isArray(headers)) this.#addList(response, headers)
    else {
      const record = headers as Record<string, unknown>
      for (const name in record) if (Object.hasOwn(record, name)) this.#check(response, name, record[name])
    }
  }

  /** What stands behind the program's own headers. False for a head that Node's code treats in a way of its own. */
  complete(response: ResponseInternals): boolean {
    if (response.sendDate && !this.#date) {
      const date = utcDate()
      this.headers.date = date
      this.#putLine('Date', date)
    }
    // Not before: Node's own code, where it has to do this again, encodes a Content-Disposition differently behind it.
    if (this.length >= 0) response._contentLength = this.length
    // Such a response has no chunks, and says so by closing (RFC 9112 section 6.1).
    if (this.#coding && (this.status === 204 || this.status === 304)) response.shouldKeepAlive = false
    this.#stateConnection(response)
    this.framing = this.#stateLength(response)
    // Without chunks there is no place for trailers: Node throws.
    if (this.#trailer && this.framing !== 'chunked') return false
    return this.#size < maxHeaderSize
  }

  #stateConnection(response: ResponseInternals): void {
    if (response._removedConnection) response._last = !response.shouldKeepAlive
    else if (!this.#connection) {
      const bounded = this.length >= 0 || response.useChunkedEncodingByDefault || response.agent
      if (!response.shouldKeepAlive || !bounded) {
        response._last = true
        this.#putClose()
      } else if (response.maxRequestsOnConnectionReached) this.#putClose()
      else this.#putKeepAlive(response)
    }
  }

  #putClose(): void {
    this.keepAlive = false
    this.headers.connection = 'close'
    this.#putLine('Connection', 'close')
  }

  #putKeepAlive(response: ResponseInternals): void {
    this.headers.connection = 'keep-alive'
    this.#putLine('Connection', 'keep-alive')
    if (!response._keepAliveTimeout || !response._defaultKeepAlive) return
    const value = keepAliveValue(response._keepAliveTimeout, response._maxRequestsPerSocket)
    this.headers['keep-alive'] = value
    this.#putLine('Keep-Alive', value)
  }

  #stateLength(response: ResponseInternals): Framing {
    if (!response._hasBody) return 'none'
    if (this.length >= 0) return 'stated'
    if (this.#coding) return 'chunked'
    if (response.useChunkedEncodingByDefault) {
      const length = response._contentLength
      if (!this.#trailer && !response._removedContLen && typeof length === 'number') {
        this.length = length
        const value = `${length}`
        this.headers['content-length'] = value
        this.#putLine('Content-Length', value)
        return 'whole'
      }
      if (!response._removedTE) {
        this.headers['transfer-encoding'] = 'chunked'
        this.#putLine('Transfer-Encoding', 'chunked')
        return 'chunked'
      }
    }
    response._last = true
    return 'close'
  }

  #addList(response: ResponseInternals, headers: readonly unknown[]): void {
    if (Array.isArray(headers[0]))
      for (const [name, value] of headers as [string, unknown][]) this.#check(response, name, value)
    // Node's code throws for it.
    else if (headers.length % 2 !== 0) this.plain = false
    else for (let n = 0; n < headers.length; n += 2) this.#check(response, headers[n] as string, headers[n + 1])
  }

  #check(response: ResponseInternals, name: string, value: unknown): void {
    validateHeaderName(name)
    this.#add(response, name, name.toLowerCase(), value, true)
  }

  #add(response: ResponseInternals, name: string, key: string, value: unknown, check: boolean): void {
    if (!Array.isArray(value)) this.#store(response, name, key, value, check)
    else if (isJoined(response, key, value)) this.#store(response, name, key, value.join('; '), check)
    else for (const one of value) this.#store(response, name, key, one, check)
  }

  #store(response: ResponseInternals, name: string, key: string, value: unknown, check: boolean): void {
    if (check) validateHeaderValue(name, value as string)
    const text = typeof value === 'string' ? value : `${value as number}`
    if (!isPlain(text)) this.plain = false
    this.#put(name, key, text)
    if (key.length >= 4 && key.length <= 17) this.#match(response, key, text)
  }

  #match(response: ResponseInternals, key: string, value: string): void {
    switch (key) {
      case 'connection':
        this.#connection = true
        response._removedConnection = false
        if (closing.test(value)) {
          response._last = true
          this.keepAlive = false
        } else response.shouldKeepAlive = true
        break
      case 'transfer-encoding':
        // Any other coding, or a length beside it, is for the parser to judge.
        if (this.#coding || this.length >= 0 || value !== 'chunked') this.plain = false
        this.#coding = true
        response._removedTE = false
        break
      case 'content-length':
        if (this.#coding || this.length >= 0 || !digits.test(value)) this.plain = false
        this.length = +value
        response._removedContLen = false
        break
      case 'date':
        this.#date = true
        break
      case 'trailer':
        this.#trailer = true
        break
      case 'keep-alive':
        response._defaultKeepAlive = false
        break
      case 'expect':
      case 'upgrade':
      case '__proto__':
        this.plain = false
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
    // A property that all objects have.
    else this.headers[key] = value
  }
}

function isJoined(response: ResponseInternals, key: string, values: readonly unknown[]): boolean {
  if (values.length >= 2 && key === 'cookie') return true
  const unique = (response as unknown as Record<symbol, ReadonlySet<string> | null>)[uniqueHeaders]
  return unique?.has(key) === true
}

let keepAlive = { timeout: NaN, max: null as number | null, value: '' }

/** The same for all responses of a server. */
function keepAliveValue(timeout: number, max: number | null): string {
  if (timeout !== keepAlive.timeout || max !== keepAlive.max) {
    const limit = ~~max! > 0 ? `, max=${max}` : ''
    keepAlive = { timeout, max, value: `timeout=${Math.floor(timeout / 1000)}${limit}` }
  }
  return keepAlive.value
}
