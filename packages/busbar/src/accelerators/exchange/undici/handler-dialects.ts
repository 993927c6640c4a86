import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import { isAscii } from '../header-values.ts'

/**
 * undici's two handler APIs. Versions 6 and 7 (and the built-in of Node 24) mostly use the legacy
 * one; version 8 and the interceptors of 7 use the one with a controller. A legacy handler gets raw
 * header lists, and returns false to pause.
 */
export interface LegacyHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void
  onResponseStarted?(): void
  onHeaders?(status: number, rawHeaders: RawHeader[], resume: () => void, statusText: string): boolean | void
  onData?(chunk: Buffer): boolean | void
  onComplete?(rawTrailers: RawHeader[]): void
  onError?(error: Error): void
  onBodySent?(chunk: Uint8Array | string): void
  onRequestSent?(): void
}

export interface ControllerHandler {
  onRequestStart(controller: Controller, context: unknown): void
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: HeaderRecord, statusText: string): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: HeaderRecord): void
  onResponseError?(controller: Controller, error: Error): void
  onBodySent?(chunk: Uint8Array | string): void
  onRequestSent?(): void
}

export type UndiciHandler = LegacyHandler | ControllerHandler
export type HeaderRecord = Record<string, string | string[]>
/** A Buffer if the value is not ASCII, since the versions decode it differently. */
export type RawHeader = string | Buffer

/** Controls a call. */
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

/** undici's context of a request, which is empty. */
export type HandlerContext = null | undefined

export function contextOf(major: number): HandlerContext {
  return major >= 8 ? null : undefined
}

/** What a handler can do with its call. */
export interface CallControl {
  abort(reason?: Error): void
  resume(): void
}

/** Calls a handler by its API. `head` and `data` return false if the handler pauses. */
export interface HandlerAdapter {
  connected(): void
  head(head: ResponseHead): boolean
  data(chunk: Buffer): boolean
  end(trailers: Readonly<Record<string, string | string[]>>): void
  error(error: Error): void
}

export function adaptHandler(handler: UndiciHandler, control: CallControl, context: HandlerContext): HandlerAdapter {
  return 'onRequestStart' in handler && typeof handler.onRequestStart === 'function'
    ? new ControllerAdapter(handler, control, context)
    : new LegacyAdapter(handler, control)
}

class LegacyAdapter implements HandlerAdapter {
  readonly #handler: LegacyHandler
  readonly #control: CallControl

  constructor(handler: LegacyHandler, control: CallControl) {
    this.#handler = handler
    this.#control = control
  }

  connected(): void {
    this.#handler.onConnect?.((reason) => this.#control.abort(reason))
  }

  head(head: ResponseHead): boolean {
    const resume = () => this.#control.resume()
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

class ControllerAdapter implements HandlerAdapter, Controller {
  readonly #handler: ControllerHandler
  readonly #control: CallControl
  #head: ResponseHead | undefined
  #trailers: Readonly<Record<string, string | string[]>> | undefined
  readonly #context: HandlerContext
  aborted = false
  paused = false
  reason: Error | null = null

  constructor(handler: ControllerHandler, control: CallControl, context: HandlerContext) {
    this.#handler = handler
    this.#control = control
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
    this.#control.resume()
  }

  abort(reason?: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason ?? null
    this.#control.abort(reason)
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

/** A copy: the handler may change it. */
function ownRecord(headers: ResponseHead['headers']): HeaderRecord {
  const record: HeaderRecord = {}
  for (const name in headers) {
    const value = headers[name]!
    record[name] = typeof value === 'string' ? value : [...value]
  }
  return record
}

/** Raw headers with the names as the callee wrote them. */
function rawHeadersOf({ headers, rawHeaders: written }: ResponseHead): RawHeader[] {
  return written?.map((text, n) => (n % 2 === 0 ? text : rawValue(text))) ?? rawHeaders(headers)
}

/** undici decodes the status text as UTF-8, unlike header values. */
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
