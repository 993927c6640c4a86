import type { CallSite, LiveCall } from '../call.ts'
import type { BusbarError } from '../errors.ts'
import { toCallError } from '../host/failures.ts'
import type { Asker, HostedMethod } from '../host/hosted-method.ts'
import type { LiveStream } from '../host/live-stream.ts'
import { encodeJson, type Reader } from '../value/encode.ts'
import type { EventFormat } from './events.ts'
import { problemHeaders, problemType, toProblem } from './problem.ts'

export interface EdgeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: there is none. */
  readonly body: string | undefined
}

export interface EdgeStream {
  readonly stream: LiveStream
  readonly site: CallSite
  readonly format: EventFormat
}

/** A call that a request began. */
export interface EdgeCall {
  /** The client is gone. */
  abandon(): void
}

/** Who answers the request: one of them, once; maybe before the call is at hand. None may throw. */
export interface EdgeReply {
  answer(answer: EdgeAnswer): void
  stream(stream: EdgeStream): void
  /** Instead of `answer`, where results and errors are not written here. */
  outcome?(outcome: EdgeOutcome): void
}

/** What a call came to, with the headers that its method set. */
export type EdgeOutcome =
  | { readonly error: BusbarError<string>; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      /** Undefined: the answer has no body. */
      readonly result: unknown
      /** Throws the error of a value that no call carries. */
      readonly encode: (value: unknown) => string
    }

/** Of every answer that nobody has added to: known by its identity. */
export const jsonHeaders: Readonly<Record<string, string>> = Object.freeze({ 'content-type': 'application/json' })

/** Makes an answer of what becomes of a call. */
export class Answering implements Asker {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #reader: Reader
  readonly #reply: EdgeReply

  constructor(hosted: HostedMethod, call: LiveCall, reader: Reader, reply: EdgeReply) {
    this.#hosted = hosted
    this.#call = call
    this.#reader = reader
    this.#reply = reply
  }

  answered(result: unknown): void {
    if (this.#reply.outcome === undefined) return this.#reply.answer(this.#answerOf(result))
    const { site, spec } = this.#hosted
    this.#reply.outcome({
      status: spec.status ?? (result === undefined ? 204 : 200),
      headers: this.#call.headers ?? {},
      result,
      encode: (value) => encodeResult(site, () => encodeJson(value, this.#reader)!),
    })
  }

  failed(error: BusbarError<string>): void {
    const { headers } = this.#call
    if (this.#reply.outcome === undefined) this.#reply.answer(failure(error, headers, this.#reader))
    else this.#reply.outcome({ error, headers: headers ?? {} })
  }

  #answerOf(result: unknown): EdgeAnswer {
    const { headers: more } = this.#call
    const { site, spec } = this.#hosted
    if (result === undefined) return withoutBody(spec.status, more)
    try {
      const body = encodeResult(site, () => encodeJson(result, this.#reader)!)
      return {
        status: spec.status ?? 200,
        headers: more === undefined ? jsonHeaders : { ...more, ...jsonHeaders },
        body,
      }
    } catch (error) {
      return failure(error as BusbarError, more)
    }
  }
}

/** 204 must not say how long its body is, every other status must (RFC 9110, 8.6). */
function withoutBody(status: number | undefined, headers: Readonly<Record<string, string>> = {}): EdgeAnswer {
  if (status === undefined) return { status: 204, headers, body: undefined }
  return { status, headers: { ...headers, 'content-length': '0' }, body: undefined }
}

/** A result that no call carries is a fault of the service. */
function encodeResult(site: CallSite, write: () => string): string {
  try {
    return write()
  } catch (error) {
    throw toCallError(error, site)
  }
}

/** A value of a stream that no call carries is a fault of the service, too. */
export function encodeValue({ format, site }: EdgeStream, value: unknown): string {
  return encodeResult(site, () => format.value(value))
}

export function failure(
  error: BusbarError<string>,
  more: Readonly<Record<string, string>> = {},
  reader: Reader = 'json',
): EdgeAnswer {
  const headers = { ...more, ...problemHeaders(error), 'content-type': problemType, 'cache-control': 'no-store' }
  return { status: error.status, headers, body: JSON.stringify(toProblem(error, reader)) }
}
