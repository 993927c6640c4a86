import type { ResponseHead } from '../../../mesh/http/exchange.ts'

/**
 * What undici wants to be told of a call, in both of its dialects: 6 and 7 (and the built-in of Node 24) mostly speak
 * the older one, 8 and every interceptor of 7 the newer. The older has raw header lists, and false for "pause".
 */
export interface OlderHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void
  onResponseStarted?(): void
  onHeaders?(status: number, rawHeaders: RawHeader[], resume: () => void, statusText: string): boolean | void
  onData?(chunk: Buffer): boolean | void
  onComplete?(rawTrailers: RawHeader[]): void
  onError?(error: Error): void
  onBodySent?(chunk: Uint8Array | string): void
  onRequestSent?(): void
}

export interface NewerHandler {
  onRequestStart(controller: Controller, context: unknown): void
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: HeaderRecord, statusText: string): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: HeaderRecord): void
  onResponseError?(controller: Controller, error: Error): void
  onBodySent?(chunk: Uint8Array | string): void
  onRequestSent?(): void
}

export type UndiciHandler = OlderHandler | NewerHandler
export type HeaderRecord = Record<string, string | string[]>
/** Bytes where they are not ASCII, since the versions decode them differently. */
export type RawHeader = string | Buffer

/** What the newer dialect steers a call with. */
export interface Controller {
  readonly aborted: boolean
  readonly paused: boolean
  readonly reason: Error | null
  readonly rawHeaders: RawHeader[] | null
  readonly rawTrailers: RawHeader[] | null
  pause(): void
  resume(): void
  abort(reason?: Error): void
}

/** What undici says of the connection, which is nothing, to a request that starts. */
export type Context = null | undefined

export function contextOf(major: number): Context {
  return major >= 8 ? null : undefined
}

/** The call as its handler may steer it. */
export interface Steering {
  abort(reason?: Error): void
  resume(): void
}

/** One dialect: `head` and `data` answer false for "pause". */
export interface Telling {
  connected(): void
  head(head: ResponseHead): boolean
  data(chunk: Buffer): boolean
  end(trailers: Readonly<Record<string, string | string[]>>): void
  error(error: Error): void
}

export function tell(handler: UndiciHandler, steering: Steering, context: Context): Telling {
  return 'onRequestStart' in handler && typeof handler.onRequestStart === 'function'
    ? new Newer(handler, steering, context)
    : new Older(handler, steering)
}

class Older implements Telling {
  readonly #handler: OlderHandler
  readonly #steering: Steering

  constructor(handler: OlderHandler, steering: Steering) {
    this.#handler = handler
    this.#steering = steering
  }

  connected(): void {
    this.#handler.onConnect?.((reason) => this.#steering.abort(reason))
  }

  head(head: ResponseHead): boolean {
    const resume = () => this.#steering.resume()
    return this.#handler.onHeaders?.(head.status, rawHeadersOf(head), resume, statusTextOf(head)) !== false
  }

  data(chunk: Buffer): boolean {
    return this.#handler.onData?.(chunk) !== false
  }

  end(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onComplete?.(rawHeaders(trailers))
  }

  error(error: Error): void {
    if (this.#handler.onError === undefined) throw error
    this.#handler.onError(error)
  }
}

class Newer implements Telling, Controller {
  readonly #handler: NewerHandler
  readonly #steering: Steering
  #head: ResponseHead | undefined
  #trailers: Readonly<Record<string, string | string[]>> | undefined
  readonly #context: Context
  aborted = false
  paused = false
  reason: Error | null = null

  constructor(handler: NewerHandler, steering: Steering, context: Context) {
    this.#handler = handler
    this.#steering = steering
    this.#context = context
  }

  get rawHeaders(): RawHeader[] | null {
    return this.#head === undefined ? null : rawHeadersOf(this.#head)
  }

  get rawTrailers(): RawHeader[] | null {
    return this.#trailers === undefined ? null : rawHeaders(this.#trailers)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#steering.resume()
  }

  abort(reason?: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason ?? null
    this.#steering.abort(reason)
  }

  connected(): void {
    this.#handler.onRequestStart(this, this.#context)
  }

  head(head: ResponseHead): boolean {
    this.#head = head
    this.#handler.onResponseStart?.(this, head.status, ownRecord(head.headers), statusTextOf(head))
    return !this.paused
  }

  data(chunk: Buffer): boolean {
    this.#handler.onResponseData?.(this, chunk)
    return !this.paused
  }

  end(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#trailers = trailers
    this.#handler.onResponseEnd?.(this, ownRecord(trailers))
  }

  error(error: Error): void {
    if (this.#handler.onResponseError === undefined) throw error
    this.#handler.onResponseError(this, error)
  }
}

/** The receiver may change what it is given. */
function ownRecord(headers: ResponseHead['headers']): HeaderRecord {
  const record: HeaderRecord = {}
  for (const name in headers) {
    const value = headers[name]!
    record[name] = typeof value === 'string' ? value : [...value]
  }
  return record
}

/** Names as the callee wrote them, for those that ask for that. */
function rawHeadersOf({ headers, rawHeaders: written }: ResponseHead): RawHeader[] {
  return written?.map((text, n) => (n % 2 === 0 ? text : rawValue(text))) ?? rawHeaders(headers)
}

/** undici takes its bytes for UTF-8, unlike those of headers. */
export function statusTextOf({ statusText }: ResponseHead): string {
  return isAscii(statusText) ? statusText : Buffer.from(statusText, 'latin1').toString()
}

export function rawHeaders(headers: Readonly<Record<string, string | string[]>>): RawHeader[] {
  const raw: RawHeader[] = []
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') raw.push(name, rawValue(value))
    else for (const one of value) raw.push(name, rawValue(one))
  }
  return raw
}

function rawValue(value: string): RawHeader {
  return isAscii(value) ? value : Buffer.from(value, 'latin1')
}

export function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text)
}
