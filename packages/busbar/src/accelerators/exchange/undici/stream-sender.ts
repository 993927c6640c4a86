import type { Exchange, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { abortedError, requestLengthError } from '../clients/undici-errors.ts'
import { withFraming, type BodyStream, type DispatchRequest } from './dispatch-request.ts'

/** The call that a streamed body belongs to. */
export interface StreamOwner {
  /** The call is over. */
  readonly done: boolean
  abort(reason?: Error): void
  bodySent(chunk: Uint8Array | string): void
  requestSent(): void
}

/** A request's body on its way. */
export interface StreamSource {
  /** The exchange accepts more. */
  drained(): void
  /** The call is over. Returns true if the body was not sent completely. */
  stop(error?: Error): boolean
}

type Open = (request: ExchangeRequest) => Exchange | undefined

/**
 * Sends the head with the first chunk, as undici does, then the others as fast as the callee reads.
 */
export function sendStream(call: StreamOwner, stated: DispatchRequest, body: BodyStream, open: Open): StreamSource {
  const sender = new StreamSender(call, stated, body, open)
  void sender.run()
  return sender
}

class StreamSender implements StreamSource {
  readonly #call: StreamOwner
  readonly #stated: DispatchRequest
  readonly #body: BodyStream
  readonly #open: Open
  #exchange: Exchange | undefined
  #sent = 0
  #finished = false
  #wake: (() => void) | undefined

  constructor(call: StreamOwner, stated: DispatchRequest, body: BodyStream, open: Open) {
    this.#call = call
    this.#stated = stated
    this.#body = body
    this.#open = open
  }

  async run(): Promise<void> {
    try {
      for await (const chunk of this.#body) {
        if (this.#call.done) return
        await this.#send(chunk as Uint8Array | string)
        if (this.#call.done) return
      }
      if (!this.#call.done) this.#end()
    } catch (error) {
      this.#finished = true
      this.#call.abort(isEarlyClose(error) ? abortedError() : (error as Error))
    }
  }

  drained(): void {
    this.#wake?.()
  }

  stop(error?: Error): boolean {
    this.#wake?.()
    if (this.#finished) return false
    const body = this.#body as { destroy?(error?: Error): void; on?(event: 'error', listener: () => void): void }
    if (typeof body.destroy === 'function') {
      body.on?.('error', () => {})
      body.destroy(error)
    }
    return true
  }

  async #send(chunk: Uint8Array | string): Promise<void> {
    const length = typeof chunk === 'string' ? Buffer.byteLength(chunk) : lengthOf(chunk)
    if (length === 0) return
    const { promised } = this.#stated
    if (promised !== undefined && this.#sent + length > promised) throw requestLengthError()
    this.#sent += length
    this.#exchange ??= this.#open(withFraming(this.#stated, false))
    if (this.#exchange === undefined) return
    const more = this.#exchange.write(chunk)
    this.#call.bodySent(chunk)
    if (!more && !this.#call.done) await this.#drain()
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }

  #end(): void {
    this.#finished = true
    const { promised } = this.#stated
    if (promised !== undefined && this.#sent !== promised) throw requestLengthError()
    if (this.#exchange === undefined) this.#open(withFraming(this.#stated, true))
    else this.#exchange.end()
    this.#call.requestSent()
  }
}

function lengthOf(chunk: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength
  // For a chunk that is neither text nor bytes, throws the same error as undici.
  return Buffer.byteLength(chunk as string)
}

function isEarlyClose(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE'
}
