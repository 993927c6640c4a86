import { AsyncResource } from 'node:async_hooks'
import type { ExchangeHandler, ResponseHead } from '../../mesh/http/exchange.ts'
import { TurnBatch } from '../../mesh/batch.ts'
import { ChunkQueue } from './chunk-queue.ts'
import type { Chunk } from './clients/body-values.ts'

export type Headers = Record<string, string | string[]>

/**
 * Bytes or characters that a program may write while the caller does not read, as in a socket's
 * buffer.
 */
const window = 64 * 1024

const noTrailers: Readonly<Record<string, string | string[]>> = Object.freeze({})

/**
 * Delivers all queued responses together, after the program's own tick and before anything else.
 */
const deliveries = new TurnBatch<QueuedResponse>(
  (run) => process.nextTick(run),
  (response) => response.deliver(),
)

/**
 * A response on its way to the caller. What the program sends is queued, and delivered in a later
 * tick, in the async context of the call (this resource's own). So the caller's handler never runs
 * inside the program's code.
 */
export abstract class QueuedResponse extends AsyncResource {
  readonly #handler: ExchangeHandler
  #information: { readonly status: number; readonly headers: Headers }[] | undefined
  #head: ResponseHead | undefined
  #chunks: ChunkQueue | undefined
  #queued = 0
  #trailers = noTrailers
  #failure: Error | undefined
  /**
   * `open`: more can come from the program. `delivered`: the handler has got the end or the error.
   */
  #state: 'open' | 'complete' | 'failed' | 'delivered' = 'open'
  /** The response's status, once its head has arrived. */
  #status = 0
  #isDrainDue = false
  #isPaused = false
  #isScheduled = false

  constructor(handler: ExchangeHandler) {
    super('ServiceCall', { requireManualDestroy: true })
    this.#handler = handler
  }

  abstract abort(error?: Error): void

  /** As the handle of a socket: a program that starts is alive while a call of its own is open. */
  hasRef(): boolean {
    return this.#state !== 'delivered'
  }

  /** Called once, just before the end or the error is delivered. */
  protected ended(_status: number, _failure: Error | undefined): void {}

  /** Called when everything was delivered and the caller accepts more. */
  protected abstract drained(): void

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isComplete(): boolean {
    return this.#state === 'complete' || (this.#state === 'delivered' && this.#failure === undefined)
  }

  get isDelivered(): boolean {
    return this.#state === 'delivered'
  }

  get hasUndelivered(): boolean {
    return this.#queued > 0
  }

  /** False if the program should wait until {@link drained}. */
  get hasRoom(): boolean {
    return !this.#isPaused || this.#queued < window
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#deliverSoon()
  }

  protected queueInformation(status: number, headers: Headers): void {
    if (this.#state !== 'open') return
    ;(this.#information ??= []).push({ status, headers })
    this.#deliverSoon()
  }

  protected queueHead(head: ResponseHead): void {
    if (this.#state !== 'open') return
    this.#head = head
    this.#status = head.status
    this.#deliverSoon()
  }

  /** `chunk` belongs to the caller from now on. */
  protected queueChunk(chunk: Chunk): void {
    if (this.#state !== 'open' || chunk.length === 0) return
    this.#chunks ??= new ChunkQueue()
    this.#chunks.push(chunk)
    this.#queued += chunk.length
    this.#deliverSoon()
  }

  protected queueEnd(trailers = noTrailers): void {
    if (this.#state !== 'open') return
    this.#state = 'complete'
    this.#trailers = trailers
    this.#deliverSoon()
  }

  /**
   * The program failed. The caller still gets the data that arrived before, when it reads on. An
   * `urgent` failure is not delayed by that: the caller is still sending and should stop.
   */
  protected queueFailure(error: Error, urgent = false): void {
    if (this.#state !== 'open') return
    if (urgent && this.#isPaused) return this.cancel(error)
    this.#state = 'failed'
    this.#failure = error
    this.#deliverSoon()
  }

  protected queueDrain(): void {
    if (this.#state === 'failed') return
    this.#isDrainDue = true
    this.#deliverSoon()
  }

  /** The caller abandoned the call: only the error is delivered. */
  protected cancel(error: Error): void {
    if (this.#state === 'delivered') return
    this.#state = 'failed'
    this.#failure = error
    this.#information = this.#head = this.#chunks = undefined
    this.#queued = 0
    this.#isPaused = false
    this.#deliverSoon()
  }

  deliver(): void {
    this.#isScheduled = false
    this.runInAsyncScope(QueuedResponse.#deliverInContext, undefined, this)
    if (!this.#isPaused && this.#queued === 0) this.drained()
  }

  #deliverSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    deliveries.add(this)
  }

  static #deliverInContext(this: void, response: QueuedResponse): void {
    try {
      response.#deliverNow()
    } catch (error) {
      // The handler's own fault. It becomes an uncaught exception in the handler's context.
      process.nextTick(rethrow, error)
      response.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #deliverNow(): void {
    if (this.#information !== undefined) this.#deliverInformation()
    if (this.#isDrainDue) this.#deliverDrain()
    if (this.#head !== undefined) this.#deliverHead()
    if (this.#chunks !== undefined && !this.#isPaused) this.#deliverChunks()
    if (this.#state !== 'open' && this.#chunks === undefined && !this.#isPaused) this.#deliverOutcome()
  }

  #deliverInformation(): void {
    const information = this.#information!
    this.#information = undefined
    for (const { status, headers } of information) this.#handler.onInformation?.(status, headers)
  }

  #deliverDrain(): void {
    this.#isDrainDue = false
    this.#handler.onDrain?.()
  }

  #deliverHead(): void {
    const head = this.#head!
    this.#head = undefined
    this.#handler.onHead(head)
  }

  #deliverChunks(): void {
    const chunks = this.#chunks!
    while (!chunks.isEmpty && !this.#isPaused && this.#chunks === chunks) {
      const chunk = chunks.shift()!
      this.#queued -= chunk.length
      // A handler that aborts also returns false, and then gets its error.
      if (!this.#handler.onData(chunk) && this.#chunks === chunks) this.#isPaused = true
    }
    if (chunks.isEmpty && this.#chunks === chunks) this.#chunks = undefined
  }

  #deliverOutcome(): void {
    if (this.#state === 'delivered') return
    this.#state = 'delivered'
    this.emitDestroy()
    this.ended(this.#status, this.#failure)
    if (this.#failure === undefined) this.#handler.onEnd(this.#trailers)
    else this.#handler.onError(this.#failure)
  }
}

function rethrow(error: unknown): never {
  throw error
}
