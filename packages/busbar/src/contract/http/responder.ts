import type { CallSite, LiveCall } from '../call/live-call.ts'
import type { BusbarError } from '../errors.ts'
import { toCallError } from '../host/failures.ts'
import type { HostedMethod } from '../host/hosted-method.ts'
import type { CallSink } from '../host/sink-answer.ts'
import type { HostedStream } from '../host/hosted-stream.ts'
import { encodeJson, type JsonDialect } from '../value/encode.ts'
import type { StreamFormat } from './stream-format.ts'
import { problemHeaders, problemType, toProblem } from './problem.ts'

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: no body. */
  readonly body: string | undefined
}

export interface StreamResponse {
  readonly stream: HostedStream
  readonly site: CallSite
  readonly format: StreamFormat
}

/** A call that a request has started. */
export interface StartedCall {
  /** Cancels the call: the client has disconnected. */
  abandon(): void
  /** Ends it: its deadline has passed. */
  expire(): void
}

/**
 * Receives the response: exactly one of these is called, once, possibly before `begin` returns.
 * None may throw.
 */
export interface ResponseSink {
  answer(answer: HttpResponse): void
  stream(stream: StreamResponse): void
  /** Replaces `answer` if the adapter encodes results and errors itself. */
  outcome?(outcome: HttpOutcome): void
}

/** The outcome of a call, with the headers that its method set. */
export type HttpOutcome =
  | { readonly error: BusbarError<string>; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      /** Undefined: the response has no body. */
      readonly result: unknown
      /** Throws the error for a value that cannot be serialised. */
      readonly encode: (value: unknown) => string
    }

/** The headers of a response to which the method added none; compared by identity. */
export const jsonHeaders: Readonly<Record<string, string>> = Object.freeze({ 'content-type': 'application/json' })

/** Converts the outcome of a call to a response. */
export class Responder implements CallSink {
  readonly #hosted: HostedMethod
  readonly #call: LiveCall
  readonly #dialect: JsonDialect
  readonly #reply: ResponseSink

  constructor(hosted: HostedMethod, call: LiveCall, dialect: JsonDialect, reply: ResponseSink) {
    this.#hosted = hosted
    this.#call = call
    this.#dialect = dialect
    this.#reply = reply
  }

  answered(result: unknown): void {
    if (this.#reply.outcome === undefined) return this.#reply.answer(this.#answerOf(result))
    const { site, spec } = this.#hosted
    this.#reply.outcome({
      status: spec.status ?? (result === undefined ? 204 : 200),
      headers: this.#call.headers ?? {},
      result,
      encode: (value) => encodeResult(site, () => encodeJson(value, this.#dialect)!),
    })
  }

  failed(error: BusbarError<string>): void {
    const { headers } = this.#call
    if (this.#reply.outcome === undefined) this.#reply.answer(failure(error, headers, this.#dialect))
    else this.#reply.outcome({ error, headers: headers ?? {} })
  }

  #answerOf(result: unknown): HttpResponse {
    const { headers: more } = this.#call
    const { site, spec } = this.#hosted
    if (result === undefined) return withoutBody(spec.status, more)
    try {
      const body = encodeResult(site, () => encodeJson(result, this.#dialect)!)
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

/** 204 must not have a content-length, every other status must (RFC 9110, 8.6). */
function withoutBody(status: number | undefined, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  if (status === undefined) return { status: 204, headers, body: undefined }
  return { status, headers: { ...headers, 'content-length': '0' }, body: undefined }
}

/** A result that cannot be serialised is a fault of the service. */
function encodeResult(site: CallSite, write: () => string): string {
  try {
    return write()
  } catch (error) {
    throw toCallError(error, site)
  }
}

/** A stream's value that cannot be serialised is a fault of the service, too. */
export function encodeValue({ format, site }: StreamResponse, value: unknown): string {
  return encodeResult(site, () => format.value(value))
}

export function failure(
  error: BusbarError<string>,
  more: Readonly<Record<string, string>> = {},
  dialect: JsonDialect = 'json',
): HttpResponse {
  const headers = { ...more, ...problemHeaders(error), 'content-type': problemType, 'cache-control': 'no-store' }
  return { status: error.status, headers, body: JSON.stringify(toProblem(error, dialect)) }
}
