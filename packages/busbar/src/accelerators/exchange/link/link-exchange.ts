import type { ErrorRecord } from '../../../contract/errors.ts'
import type { RemoteEndpoint } from '../../../mesh/endpoint.ts'
import type { CallHead, Channel, ChannelHandler } from '../../../mesh/links/link.ts'
import { currentScope, type Scope } from '../../../mesh/scope.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { Answer } from '../answer.ts'
import { callAborted, lengthMismatch } from '../errors.ts'
import { foldHeaders } from '../../../mesh/http/header-fields.ts'
import { refusedSince } from '../../../mesh/refusals.ts'
import { Outflow, pieceSize } from '../../../mesh/links/outflow.ts'
import {
  fromLines,
  fromRecord,
  isChunk,
  isHeadValue,
  malformed,
  toHead,
  toLines,
  type Chunk,
  type HeadValue,
  type RequestValue,
  type Trailers,
} from '../../../mesh/http/wire.ts'

/** A request to an instance in another worker: what `InThreadExchange` is to one in this thread. */
export class LinkExchange extends Answer implements Exchange, ChannelHandler {
  readonly #service: string
  readonly #channel: Channel
  /** Undefined where the body went with the head, or there is none. */
  readonly #upload: Outflow | undefined
  /** Of a streamed body whose length was stated: what is to come. */
  #left: number
  #hasHead = false
  #isUntouched = false
  /** Values of the answer that the caller has not taken yet. */
  #untaken = 0

  /** `contentLength`: what the request's head says of a streamed body, or -1. */
  constructor(
    endpoint: RemoteEndpoint,
    request: ExchangeRequest,
    contentLength: number,
    scope: Scope,
    handler: ExchangeHandler,
  ) {
    super(handler)
    const { streamed } = request
    const body = request.body === null || request.body.length === 0 ? null : request.body
    const apart = streamed || (body !== null && body.length > pieceSize)
    const payload = payloadOf(request, apart ? null : wellFormed(body))
    this.#service = endpoint.service
    this.#left = streamed && contentLength >= 0 ? contentLength : Infinity
    this.#channel = endpoint.link.open(headOf(request, scope), payload, !apart, this)
    if (!apart) return
    this.#upload = new Outflow(this.#channel, () => this.putDrain())
    if (streamed) return
    this.#upload.write(Buffer.from(body as string))
    this.#upload.end()
  }

  /** It has failed before anybody began to answer it. */
  get isUntouched(): boolean {
    return this.#isUntouched
  }

  // The caller's side

  write(chunk: Chunk): boolean {
    if (this.#upload === undefined || this.#upload.ended || chunk.length === 0) return true
    const ours = typeof chunk === 'string' ? chunk.toWellFormed() : new Uint8Array(chunk)
    if (this.#left !== Infinity && (this.#left -= Buffer.byteLength(ours)) < 0) {
      this.abort(lengthMismatch())
      return true
    }
    return this.#upload.write(ours)
  }

  end(rawTrailers?: string[]): void {
    if (this.#upload === undefined || this.#upload.ended) return
    if (this.#left !== Infinity && this.#left > 0) return this.abort(lengthMismatch())
    // Only a body in chunks has a place for trailers.
    this.#upload.end(this.#left === Infinity ? rawTrailers : undefined)
  }

  override abort(error: Error = callAborted(this.#service)): void {
    // After the answer, only what is left of the request can be given up.
    if (this.isTold && !this.#isUploading) return
    this.cancel(error)
    this.#channel.cancel(callAborted(this.#service).toRecord())
  }

  // What comes over the link

  onReply(value: unknown, last: boolean): void {
    const head = this.#hear(value)
    if (!last || head === undefined) return
    if (head[3] !== undefined && head[3] !== null) this.putChunk(asChunk(head[3]))
    this.putEnd(head[4])
  }

  onData(value: unknown): void {
    this.#untaken++
    if (!this.#hasHead) this.#hear(value)
    else if (isChunk(value)) this.putChunk(asChunk(value))
    else this.#fault()
  }

  onEnd(value: unknown): void {
    if (this.#hasHead) this.putEnd((value ?? undefined) as Trailers | undefined)
    else this.#fault()
  }

  onError(record: ErrorRecord, untouched: boolean): void {
    this.#isUntouched = untouched
    const { code, message } = record
    const isRefused = untouched && code === 'SERVICE_UNAVAILABLE'
    const error = isRefused ? refusedSince(message, this.#service) : fromRecord(record)
    this.putFailure(error, this.#isUploading)
  }

  onDrain(): void {
    this.#upload?.drained()
  }

  protected override drained(): void {
    const taken = this.#untaken
    this.#untaken = 0
    if (taken > 0) this.#channel.consumed(taken)
  }

  get #isUploading(): boolean {
    return this.#upload?.ended === false
  }

  #hear(value: unknown): HeadValue | undefined {
    if (!isHeadValue(value)) {
      this.#fault()
      return undefined
    }
    if (value[0] < 200) this.putInformation(value[0], foldHeaders(fromLines(value[2])))
    else {
      this.#hasHead = true
      this.putHead(toHead(value))
    }
    return value
  }

  #fault(): void {
    const error = malformed('the answer', this.#service)
    this.putFailure(error)
    this.#channel.cancel(error.toRecord())
  }
}

function payloadOf({ path, rawHeaders }: ExchangeRequest, body: Chunk | null): RequestValue {
  return [path, toLines(rawHeaders), body]
}

function headOf({ method }: ExchangeRequest, { service, hops }: Scope): CallHead {
  const caller = currentScope()?.service
  return { service, kind: 'http', method, hops, caller, timeLeft: undefined, trace: undefined, metadata: undefined }
}

function wellFormed(body: Chunk | null): Chunk | null {
  return typeof body === 'string' ? body.toWellFormed() : body
}

/** Clients expect what Node's own would give them. */
function asChunk(chunk: Chunk): Chunk {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
