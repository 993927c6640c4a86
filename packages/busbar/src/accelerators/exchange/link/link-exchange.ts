import type { ErrorRecord } from '../../../contract/errors.ts'
import type { RemoteEndpoint } from '../../../mesh/routing/endpoint.ts'
import type { CallHead, Channel, ChannelHandler } from '../../../mesh/links/link.ts'
import { currentScope, type Scope } from '../../../mesh/scope.ts'
import {
  type Exchange,
  type ExchangeHandler,
  type ExchangeRequest,
  maxForwardedHead,
} from '../../../mesh/http/exchange.ts'
import { AnswerBody } from '../../../mesh/http/answer-body.ts'
import { QueuedResponse } from '../queued-response.ts'
import { callAborted, lengthMismatch } from '../errors.ts'
import { connectionRefusedError } from '../../../mesh/routing/unreachable.ts'
import { ChannelWriter, pieceSize } from '../../../mesh/links/channel-writer.ts'
import {
  fromRecord,
  isChunk,
  isTrailers,
  malformed,
  readHead,
  toLines,
  type Chunk,
  type ReceivedHead,
  type RequestValue,
} from '../../../mesh/http/wire.ts'

/** One call to an instance in another worker. */
export class LinkExchange extends QueuedResponse implements Exchange, ChannelHandler {
  readonly #service: string
  readonly #channel: Channel
  /** Undefined if the body was sent with the head, or there is none. */
  readonly #upload: ChannelWriter | undefined
  /** Bytes to come of a streamed body with a stated length; else Infinity. */
  #left: number
  readonly #answer: AnswerBody
  /** Characters of its head, and of its trailers. */
  readonly #maxHead: number
  #hasHead = false
  #notStarted = false
  /** Number of values that the caller has not taken yet. */
  #untaken = 0

  /** `contentLength`: the stated length of a streamed body, or -1. */
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
    this.#answer = new AnswerBody(request.method)
    this.#maxHead = request.maxResponseHead ?? maxForwardedHead
    this.#left = streamed && contentLength >= 0 ? contentLength : Infinity
    this.#channel = endpoint.link.open(headOf(request, scope), payload, !apart, this)
    if (!apart) return
    this.#upload = new ChannelWriter(this.#channel, () => this.queueDrain())
    if (streamed) return
    this.#upload.write(Buffer.from(body as string))
    this.#upload.end()
  }

  /** True if the call failed before the service began to process it. */
  get notStarted(): boolean {
    return this.#notStarted
  }

  // Called by the caller

  write(chunk: Chunk): boolean {
    if (this.#upload === undefined || this.#upload.ended || chunk.length === 0) return true
    const copy = typeof chunk === 'string' ? chunk.toWellFormed() : new Uint8Array(chunk)
    if (this.#left !== Infinity && (this.#left -= Buffer.byteLength(copy)) < 0) {
      this.abort(lengthMismatch())
      return true
    }
    return this.#upload.write(copy)
  }

  end(rawTrailers?: string[]): void {
    if (this.#upload === undefined || this.#upload.ended) return
    if (this.#left !== Infinity && this.#left > 0) return this.abort(lengthMismatch())
    // Only a chunked body can have trailers.
    this.#upload.end(this.#left === Infinity ? rawTrailers : undefined)
  }

  override abort(error: Error = callAborted(this.#service)): void {
    // After the response, only an unfinished upload can be aborted.
    if (this.isDelivered && !this.#isUploading) return
    this.cancel(error)
    this.#channel.cancel(callAborted(this.#service).toRecord())
  }

  // Called by the channel

  onReply(value: unknown, last: boolean): void {
    const received = this.#receiveHead(value, last)
    if (!last || received === undefined) return
    if (received.body !== undefined) this.#queueBody(received.body)
    this.queueEnd(received.trailers)
  }

  onData(value: unknown): void {
    this.#untaken++
    if (!this.#hasHead) this.#receiveHead(value, false)
    else if (isChunk(value)) this.#queueBody(value)
    else this.#failMalformed()
  }

  onEnd(value: unknown): void {
    if (this.#hasHead && (value == null || isTrailers(value, this.#maxHead))) this.queueEnd(value ?? undefined)
    else this.#failMalformed()
  }

  onError(record: ErrorRecord, notStarted: boolean): void {
    this.#notStarted = notStarted
    const { code, message } = record
    const isRefused = notStarted && code === 'SERVICE_UNAVAILABLE'
    const error = isRefused ? connectionRefusedError(message, this.#service) : fromRecord(record)
    this.queueFailure(error, this.#isUploading)
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

  #receiveHead(value: unknown, last: boolean): ReceivedHead | undefined {
    const received = readHead(value, this.#maxHead)
    // An informational head is not the last one, and no request that asks for 101 is an exchange.
    if (received === undefined || (last && received.head.status < 200) || received.head.status === 101) {
      this.#failMalformed()
      return undefined
    }
    const { head } = received
    if (head.status < 200) this.queueInformation(head.status, head.headers)
    else if (this.#answer.begin(head)) {
      this.#hasHead = true
      this.queueHead(head)
    } else {
      this.#failMalformed()
      return undefined
    }
    return received
  }

  #queueBody(chunk: Chunk): void {
    const taken = this.#answer.take(chunk)
    if (taken !== undefined) this.queueChunk(asChunk(taken))
  }

  #failMalformed(): void {
    const error = malformed('the answer', this.#service)
    this.queueFailure(error)
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

/** Clients expect a Buffer, as Node's own client delivers. */
function asChunk(chunk: Chunk): Chunk {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
