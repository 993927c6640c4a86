import { BusbarError, type ErrorCode } from '../../errors.ts'
import { type FramedMessage, MessageDecoder } from '../../grpc/framing.ts'
import { fromTrailers, type StatusSource } from '../../grpc/status-details.ts'
import type { Codec } from '../../protobuf/codec.ts'
import { type Http2Headers, type Http2Stream, zlibModule } from './node-modules.ts'

type Step = IteratorResult<unknown, undefined>

/** The largest message of an answer, compressed or not. */
const maxMessage = 64 * 1024 * 1024
/** Messages that may wait for their reader before the service has to. */
const maxWaiting = 16
const cancelCode = 8

/** Codes of a stream that was reset (RFC 9113, 7). */
const resetCodes: Readonly<Record<number, ErrorCode>> = {
  [0x7]: 'SERVICE_UNAVAILABLE',
  [0xb]: 'RESOURCE_EXHAUSTED',
}

interface Opened {
  readonly stream: Http2Stream
  /** Its signal resets the stream. */
  readonly reset: AbortController
}

type State =
  | { readonly is: 'open' }
  /** What follows the messages that have arrived. */
  | { readonly is: 'ended'; readonly error: BusbarError<string> | undefined }

/** Reads the messages of an answer and its status, one after the other. */
export class AnswerReader {
  readonly #stream: Http2Stream
  readonly #reset: AbortController
  readonly #callee: StatusSource
  readonly #codec: Codec
  readonly #deadline: number
  readonly #decoder = new MessageDecoder(maxMessage)
  readonly #messages: FramedMessage[] = []
  #state: State = { is: 'open' }
  #wake: (() => void) | undefined
  #encoding: string | undefined
  #trailers: Http2Headers | undefined
  #hasHead = false

  /** `deadline`: on the clock of `performance.now()`. */
  constructor({ stream, reset }: Opened, callee: StatusSource, codec: Codec, deadline: number) {
    this.#stream = stream
    this.#reset = reset
    this.#callee = callee
    this.#codec = codec
    this.#deadline = deadline
    let failure: Error | undefined
    stream.on('error', (error) => (failure = error))
    stream.on('response', (headers) => this.#began(headers))
    stream.on('trailers', (trailers) => (this.#trailers = trailers))
    stream.on('data', (chunk: Uint8Array) => this.#received(chunk))
    stream.on('end', () => this.#trailers && this.#end(this.#statusOf(this.#trailers)))
    stream.on('close', () => this.#end(this.#trailers ? this.#statusOf(this.#trailers) : this.#lost(failure)))
  }

  async next(): Promise<Step> {
    while (this.#messages.length === 0 && this.#state.is === 'open')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    const message = this.#messages.shift()
    if (message !== undefined) {
      if (this.#messages.length <= maxWaiting / 2) this.#stream.resume()
      return { done: false, value: this.#decode(message) }
    }
    const { error } = this.#state as Extract<State, { is: 'ended' }>
    if (error !== undefined) throw error
    return { done: true, value: undefined }
  }

  get callee(): StatusSource {
    return this.#callee
  }

  /** Ends the call with an error of the caller's side. */
  fail(error: BusbarError): void {
    this.#end(error)
    this.cancel()
  }

  /**
   * Not by `Http2Stream.close`, which ends what is sent before it resets the stream: the service
   * would see a complete stream of inputs.
   */
  cancel(): void {
    if (!this.#stream.closed) this.#reset.abort()
  }

  malformed(what: string): BusbarError {
    const { service, method } = this.#callee
    return new BusbarError('ANSWER_MALFORMED', {
      message: `the answer to ${service}.${method} is not of gRPC: ${what}`,
      service,
    })
  }

  #began(headers: Http2Headers): void {
    this.#hasHead = true
    if (headers['grpc-status'] !== undefined) this.#trailers = headers
    else if (headers[':status'] !== 200) this.#refused(Number(headers[':status']))
    else if (!String(headers['content-type']).startsWith('application/grpc'))
      this.#refused(undefined, `its content type is ${String(headers['content-type'])}`)
    this.#encoding = headers['grpc-encoding'] as string | undefined
  }

  /** A proxy without gRPC has answered (doc/http-grpc-status-mapping.md). */
  #refused(status: number | undefined, what = `it has the HTTP status ${status}`): void {
    const code: ErrorCode = (status !== undefined && httpCodes[status]) || 'ANSWER_MALFORMED'
    const { message, service } = this.malformed(what)
    this.#end(new BusbarError(code, { message, ...(service !== undefined && { service }) }))
    this.cancel()
  }

  #received(chunk: Uint8Array): void {
    if (this.#state.is !== 'open') return
    try {
      this.#messages.push(...this.#decoder.push(chunk))
    } catch (error) {
      this.#end(this.malformed((error as Error).message))
      return this.cancel()
    }
    if (this.#messages.length >= maxWaiting) this.#stream.pause()
    this.#wake?.()
  }

  #decode({ bytes, compressed }: FramedMessage): unknown {
    try {
      return this.#codec.decode(compressed ? this.#expanded(bytes) : bytes)
    } catch (error) {
      this.cancel()
      throw this.malformed((error as Error).message)
    }
  }

  #expanded(bytes: Uint8Array): Uint8Array {
    const limit = { maxOutputLength: maxMessage }
    if (this.#encoding === 'gzip') return zlibModule().gunzipSync(bytes, limit)
    if (this.#encoding === 'deflate') return zlibModule().inflateSync(bytes, limit)
    throw new TypeError(`a message is compressed by ${this.#encoding ?? 'an unknown encoding'}`)
  }

  #statusOf(trailers: Http2Headers): BusbarError<string> | undefined {
    return fromTrailers(trailers, this.#callee)
  }

  #lost(failure: Error | undefined): BusbarError {
    const { service, method } = this.#callee
    const { rstCode } = this.#stream
    // Some servers reset a call at its deadline, before this side's timer.
    const isLate = rstCode === cancelCode && performance.now() >= this.#deadline
    const code = isLate ? 'DEADLINE_EXCEEDED' : rstCode === undefined ? undefined : resetCodes[rstCode]
    const what = failure === undefined ? '' : `: ${failure.message}`
    const when = this.#hasHead ? 'before its answer was complete' : 'before it answered'
    const message = `${service}.${method} closed the stream ${when}${what}`
    return new BusbarError(code ?? 'SERVICE_HANGUP', { message, service, cause: failure })
  }

  #end(error: BusbarError<string> | undefined): void {
    if (this.#state.is === 'open') this.#state = { is: 'ended', error }
    // The service has answered without reading all that the caller sends.
    if (!this.#stream.writableEnded) this.cancel()
    this.#wake?.()
  }
}

const httpCodes: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'METHOD_UNKNOWN',
  429: 'RESOURCE_EXHAUSTED',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
}
