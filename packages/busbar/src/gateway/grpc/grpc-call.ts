import { deadlines, type Expiring } from '../../contract/call/deadlines.ts'
import { expired } from '../../contract/call/end-reasons.ts'
import { BusbarError } from '../../contract/errors.ts'
import {
  type FramedMessage,
  frame,
  frameInPlace,
  headLength,
  isOnlyMessage,
  MessageDecoder,
} from '../../contract/grpc/framing.ts'
import { okTrailers, toTrailers } from '../../contract/grpc/status-details.ts'
import { answerFields, type CarrierEvents } from '../../shared/entrance/grpc-carrier.ts'
import type { CallParts } from './call-parts.ts'
import { cardinality, leftEarly, toAnswerError, toCallError, toError } from './call-errors.ts'
import type { CallSink } from '../../contract/host/sink-answer.ts'
import type { StartedCall } from '../../contract/http/responder.ts'
import { compress, decompress } from './compression.ts'
import { MessageQueue } from './message-queue.ts'

/**
 * Milliseconds by which a client's reset may come before the deadline here, since its clock starts
 * first: a tenth of the call's time, within these limits.
 */
const deadlineSlack = { least: 20, most: 100 }

/**
 * One call: collects its messages, calls the method and sends what it answers. The deadline and the
 * client's cancel reach the method as one signal, which is made only if somebody asks for it.
 */
export class GrpcCall implements CarrierEvents, CallSink, Expiring {
  deadline = Infinity
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  bucket = -1
  readonly #parts: CallParts
  readonly #decoder: MessageDecoder
  #controller: AbortController | undefined
  /** A call that needs no signal. */
  #started: StartedCall | undefined
  readonly #queue: MessageQueue | undefined
  /** The only message of a client that does not stream. */
  #message: FramedMessage | undefined
  #state: 'receiving' | 'answering' | 'over' = 'receiving'
  #hasHead = false
  #onDrain: (() => void) | undefined
  /** When its method was called, in milliseconds of `performance.now()`. */
  #began: number | undefined

  constructor(parts: CallParts) {
    this.#parts = parts
    this.#decoder = new MessageDecoder(parts.limits.maxMessage)
    if (parts.method.clientStreams) this.#queue = new MessageQueue(parts.carrier)
  }

  /** A client that streams may get answers before it has sent anything. */
  start(): void {
    const { carrier, limits } = this.#parts
    const { whole } = carrier
    if (this.#queue !== undefined) this.#begin(this.#decodedAll(this.#queue))
    else if (whole === undefined) this.#expireIn(limits.requestTimeout)
    else if (isOnlyMessage(whole, limits.maxMessage)) return this.#answerTo(whole, headLength)
    if (whole === undefined) return
    // A message may wait, and the carrier uses this memory again.
    this.onData(new Uint8Array(whole))
    this.onEnd()
  }

  onData(chunk: Uint8Array): void {
    if (this.#state === 'over') return
    try {
      for (const message of this.#decoder.push(chunk)) this.#received(message)
    } catch (error) {
      this.#fail(toError(error, this.#parts.method))
    }
  }

  onEnd(): void {
    if (this.#state === 'over') return
    try {
      this.#decoder.end()
    } catch (error) {
      return this.#fail(toError(error, this.#parts.method))
    }
    if (this.#queue !== undefined) return this.#queue.end()
    if (this.#message === undefined) return this.#fail(cardinality(this.#parts.method, 'no message'))
    deadlines.remove(this)
    this.#answerOne(this.#message)
  }

  onDrain(): void {
    this.#onDrain?.()
  }

  onClose(): void {
    if (this.#state === 'over') return
    this.#over(this.#began !== undefined ? undefined : leftEarly(this.#parts.method))
    if (this.#isDue) this.#expireNow()
    else this.#cancel()
    this.#onDrain?.()
  }

  /** Its worker dies. The method is not cancelled: for its edge the call ends with the worker. */
  fail(error: BusbarError): void {
    this.#fail(error)
  }

  expire(): void {
    const { service, method } = this.#parts.method
    const what = this.#state === 'receiving' ? 'was not received' : 'was not answered'
    const code = this.#state === 'receiving' ? 'REQUEST_TIMEOUT' : 'RESPONSE_TIMEOUT'
    this.#fail(new BusbarError(code, { message: `${service}.${method} ${what} in time`, service }))
    this.#cancel()
  }

  #cancel(): void {
    this.#started?.abandon()
    this.#controller?.abort()
  }

  /**
   * Clients reset a call whose deadline has passed. The reset and the deadline here come at about
   * the same time: whichever is first, the call ends by its deadline.
   */
  get #isDue(): boolean {
    const { timeout } = this.#parts.head
    if (timeout === undefined || this.#began === undefined) return false
    const slack = Math.min(deadlineSlack.most, Math.max(deadlineSlack.least, timeout / 10))
    return this.#began + timeout - performance.now() <= slack
  }

  #expireNow(): void {
    this.#started?.expire()
    this.#controller?.abort(expired(this.#parts.method))
  }

  #expireIn(milliseconds: number, from = performance.now()): void {
    if (milliseconds === 0) return
    this.deadline = from + milliseconds
    deadlines.add(this)
  }

  #received(message: FramedMessage): void {
    if (this.#queue !== undefined) return this.#queue.push(message)
    if (this.#message !== undefined) throw cardinality(this.#parts.method, 'more than one message')
    this.#message = message
  }

  /** Only compression waits. */
  #answerOne(message: FramedMessage): void {
    this.#state = 'answering'
    if (!message.compressed) return this.#answerTo(message.bytes)
    void this.#expanded(message).then(
      (bytes) => this.#answerTo(bytes),
      (error: unknown) => this.#fail(toError(error, this.#parts.method)),
    )
  }

  #answerTo(bytes: Uint8Array, start = 0): void {
    if (this.#state === 'over') return
    let input: unknown
    try {
      input = this.#parts.method.request.decode(bytes, start)
    } catch (error) {
      return this.#fail(toError(error, this.#parts.method))
    }
    this.#begin(input)
  }

  async #expanded({ bytes }: FramedMessage): Promise<Uint8Array> {
    return await decompress(bytes, this.#parts.head.encoding, this.#parts.limits.maxMessage)
  }

  async *#decodedAll(queue: MessageQueue): AsyncGenerator<unknown, void, undefined> {
    const { method } = this.#parts
    for await (const message of queue) {
      try {
        yield method.request.decode(message.compressed ? await this.#expanded(message) : message.bytes)
      } catch (error) {
        const failure = toError(error, method)
        this.#fail(failure)
        this.#cancel()
        throw failure
      }
    }
  }

  #begin(input: unknown): void {
    const { method, head, limits } = this.#parts
    this.#state = 'answering'
    const began = (this.#began = performance.now())
    // A stream of the client may last, so only its own deadline limits it.
    const limit = method.clientStreams ? 0 : limits.responseTimeout
    const { metadata, trace, timeout } = head
    const options = timeout === undefined ? { metadata, trace } : { metadata, trace, timeout }
    try {
      this.#started = method.start?.(input, options, this)
      // Most methods have answered by now.
      if ((this.#state as string) !== 'over') this.#expireIn(limit, began)
      if (this.#started !== undefined) return
      const { signal } = (this.#controller = new AbortController())
      const answer = method.call(input, { ...options, signal })
      if (method.serverStreams) void this.#sendAll(answer as AsyncIterable<unknown>)
      else
        (answer as Promise<unknown>).then(
          (value) => this.answered(value),
          (error: unknown) => this.#fail(toCallError(error)),
        )
    } catch (error) {
      this.#fail(toCallError(error))
    }
  }

  failed(error: BusbarError<string>): void {
    this.#fail(toCallError(error))
  }

  answered(value: unknown): void {
    if (this.#state === 'over') return
    const refuse = (error: unknown): void => this.#fail(toAnswerError(error, this.#parts.method))
    try {
      const { method, head, carrier } = this.#parts
      if (head.encoding === 'identity') {
        const framed = frameInPlace(method.response.encode(value, headLength))
        this.#over()
        carrier.answer(framed)
      } else (this.#framed(value) as Promise<Uint8Array>).then((bytes) => this.#sendOnly(bytes), refuse)
    } catch (error) {
      refuse(error)
    }
  }

  #sendOnly(framed: Uint8Array): void {
    if (this.#state === 'over') return
    this.#respond()
    this.#parts.carrier.write(framed)
    this.#finish()
  }

  /** One value at a time: a slow reader slows the method down. */
  async #sendAll(values: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const value of values) {
        deadlines.remove(this)
        await this.#send(value)
        // Leaving the loop ends the method.
        if ((this.#state as string) === 'over') return
      }
      this.#finish()
    } catch (error) {
      this.#fail(toAnswerError(error, this.#parts.method))
    }
  }

  async #send(value: unknown): Promise<void> {
    const framed = await this.#framed(value)
    if (this.#state === 'over') return
    this.#respond()
    if (!this.#parts.carrier.write(framed)) await this.#drained()
  }

  #framed(value: unknown): Uint8Array | Promise<Uint8Array> {
    const { method, head } = this.#parts
    if (head.encoding === 'identity') return frameInPlace(method.response.encode(value, headLength))
    return compress(method.response.encode(value), head.encoding).then((bytes) => frame(bytes, true))
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => (this.#onDrain = resolve))
    this.#onDrain = undefined
  }

  #respond(): void {
    if (this.#hasHead) return
    this.#hasHead = true
    const { encoding } = this.#parts.head
    this.#parts.carrier.respond(encoding === 'identity' ? answerFields : { ...answerFields, 'grpc-encoding': encoding })
  }

  #finish(): void {
    if (this.#state === 'over') return
    this.#respond()
    this.#over()
    this.#parts.carrier.finish(okTrailers)
  }

  #fail(error: BusbarError<string>): void {
    if (this.#state === 'over') return
    this.#over(this.#began !== undefined ? undefined : error)
    this.#parts.carrier.finish(toTrailers(error))
    this.#onDrain?.()
  }

  #over(refused?: BusbarError<string>): void {
    this.#state = 'over'
    deadlines.remove(this)
    this.#queue?.close()
    this.#parts.onEnd(refused)
  }
}
