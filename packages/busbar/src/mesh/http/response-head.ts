import { createServer, IncomingMessage, maxHeaderSize, ServerResponse, validateHeaderName } from 'node:http'
import { validateHeaderValue } from 'node:http'
import { Socket } from 'node:net'
import type { ResponseHead } from './exchange.ts'
import { symbolNamed } from './internals.ts'
import type { OutHeaders, ResponseInternals } from './internals.ts'

/**
 * Lays out a response's head as Node's `_storeHeader` does (`lib/_http_outgoing.js`), as fields instead of text: the same
 * headers in the same order, the same flags left on the response, the same errors thrown.
 */

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

export interface CaughtHead extends ResponseHead {
  readonly framing: Framing
  /** With framing `stated` and `whole`. */
  readonly length: number
  /** False: the response says `connection: close`. */
  readonly keepAlive: boolean
}

const outHeaders = symbolNamed(new ServerResponse(new IncomingMessage(new Socket())), 'kOutHeaders')!
const uniqueHeaders = symbolNamed(createServer(), 'kUniqueHeaders')!

const closing = /(?:^|\W)close(?:$|\W)/i

/**
 * Undefined for a head that is not plain: what a client makes of it depends on how Node writes it as bytes (characters
 * beyond ASCII, contradictory lengths, an `Upgrade`), so it has to become text. Nothing is changed then.
 */
export function catchHead(response: ResponseInternals, headers: unknown): CaughtHead | undefined {
  const { statusCode, statusMessage } = response
  if (statusCode < 200 || !isPlain(statusMessage)) return undefined
  const draft = new Draft(statusMessage.length)
  const out = (response as unknown as Record<symbol, unknown>)[outHeaders]
  if (headers) {
    if (headers === out) draft.addOutHeaders(response, headers as OutHeaders)
    else if (Array.isArray(headers)) draft.addList(response, headers)
    else draft.addRecord(response, headers as Record<string, unknown>)
  }
  if (!draft.plain) return undefined
  if (response.sendDate && !draft.date) draft.put('Date', 'date', utcDate())
  return draft.frame(response)
}

class Draft {
  readonly headers: Record<string, string | string[]> = {}
  readonly rawHeaders: string[] = []
  plain = true
  date = false
  #size: number
  #connection = false
  #close = false
  #chunked = false
  #length = -1
  #trailer = false
  #customKeepAlive = false

  constructor(size: number) {
    this.#size = size
  }

  addOutHeaders(response: ResponseInternals, headers: OutHeaders): void {
    for (const key in headers) {
      const [name, value] = headers[key]!
      this.#add(response, name, key, value, false)
    }
  }

  addList(response: ResponseInternals, headers: readonly unknown[]): void {
    if (Array.isArray(headers[0]))
      for (const [name, value] of headers as [string, unknown][]) this.#addChecked(response, name, value)
    // Node's own code throws for it.
    else if (headers.length % 2 !== 0) this.plain = false
    else for (let n = 0; n < headers.length; n += 2) this.#addChecked(response, headers[n] as string, headers[n + 1])
  }

  addRecord(response: ResponseInternals, headers: Record<string, unknown>): void {
    for (const name in headers) if (Object.hasOwn(headers, name)) this.#addChecked(response, name, headers[name])
  }

  /** The part of `_storeHeader` behind the program's own headers. */
  frame(response: ResponseInternals): CaughtHead | undefined {
    let { shouldKeepAlive } = response
    const empty = response.statusCode === 204 || response.statusCode === 304
    if (this.#chunked && empty) {
      this.#chunked = false
      shouldKeepAlive = false
      return undefined
    }
    void shouldKeepAlive
    return undefined
  }

  #addChecked(response: ResponseInternals, name: string, value: unknown): void {
    validateHeaderName(name)
    this.#add(response, name, name.toLowerCase(), value, true)
  }

  #add(response: ResponseInternals, name: string, key: string, value: unknown, check: boolean): void {
    void [response, name, key, value, check, uniqueHeaders, closing, maxHeaderSize, validateHeaderValue]
  }

  put(name: string, key: string, value: string): void {
    void [name, key, value]
  }
}

function isPlain(_value: string): boolean {
  return true
}
function utcDate(): string {
  return ''
}
