import { AsyncResource } from 'node:async_hooks'
import type { ExchangeHandler, ResponseHead } from '../../mesh/http/exchange.ts'
import { Turn } from '../../mesh/turn.ts'

export type Headers = Record<string, string | string[]>
export type Chunk = string | Uint8Array

/** What a program may write ahead of a caller that does not read, as into a socket's buffer. Bytes, or characters. */
const window = 64 * 1024

const noTrailers: Readonly<Record<string, string | string[]>> = Object.freeze({})

/** After the program's own tick, and before anything else: all answers of a turn are told together. */
const told = new Turn<Answer>(
  (run) => process.nextTick(run),
  (answer) => answer.tell(),
)

/**
 * A response on its way to the caller. What the program makes is kept here and told in a tick of its own, in the async
 * context in which the call was made (this resource's own): the handler never runs inside the program's code.
 */
export abstract class Answer extends AsyncResource {
  readonly #handler: ExchangeHandler
  #information: { readonly status: number; readonly headers: Headers }[] | undefined
  #head: ResponseHead | undefined
  #chunks: Chunk[] | undefined
  #queued = 0
  #trailers = noTrailers
  #failure: Error | undefined
  /** Whether more can come from the program; `told`: the handler has heard the last word. */
  #state: 'open' | 'complete' | 'failed' | 'told' = 'open'
  /** Of the answer, once its head has come. */
  #status = 0
  #drainDue = false
  #paused = false
  #telling = false

  constructor(handler: ExchangeHandler) {
    super('BusbarExchange', { requireManualDestroy: true })
    this.#handler = handler
  }

  abstract abort(error?: Error): void

  /** The caller has heard the last word, which `failure` is where it is an error. Once. */
  protected ended(_status: number, _failure: Error | undefined): void {}

  /** The caller has heard all there was and takes more. */
  protected abstract drained(): void

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isComplete(): boolean {
    return this.#state === 'complete' || (this.#state === 'told' && this.#failure === undefined)
  }

  get isTold(): boolean {
    return this.#state === 'told'
  }

  get hasUntold(): boolean {
    return this.#queued > 0
  }

  /** False: the program should wait until {@link drained}. */
  get hasRoom(): boolean {
    return !this.#paused || this.#queued < window
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#tellSoon()
  }

  protected putInformation(status: number, headers: Headers): void {
    if (this.#state !== 'open') return
    ;(this.#information ??= []).push({ status, headers })
    this.#tellSoon()
  }

  protected putHead(head: ResponseHead): void {
    if (this.#state !== 'open') return
    this.#head = head
    this.#status = head.status
    this.#tellSoon()
  }

  /** `chunk` is the caller's from now on. */
  protected putChunk(chunk: Chunk): void {
    if (this.#state !== 'open' || chunk.length === 0) return
    if (this.#chunks === undefined) this.#chunks = [chunk]
    else this.#chunks.push(chunk)
    this.#queued += chunk.length
    this.#tellSoon()
  }

  protected putEnd(trailers = noTrailers): void {
    if (this.#state !== 'open') return
    this.#state = 'complete'
    this.#trailers = trailers
    this.#tellSoon()
  }

  /**
   * The program went away: the caller still gets what arrived before, when it reads on. An `urgent` failure does not wait
   * for that: the caller is still sending, and learns that there is no more use in it.
   */
  protected putFailure(error: Error, urgent = false): void {
    if (this.#state !== 'open') return
    if (urgent && this.#paused) return this.cancel(error)
    this.#state = 'failed'
    this.#failure = error
    this.#tellSoon()
  }

  protected putDrain(): void {
    if (this.#state === 'failed') return
    this.#drainDue = true
    this.#tellSoon()
  }

  /** The caller gave up: it hears of nothing else. */
  protected cancel(error: Error): void {
    if (this.#state === 'told') return
    this.#state = 'failed'
    this.#failure = error
    this.#information = this.#head = this.#chunks = undefined
    this.#queued = 0
    this.#paused = false
    this.#tellSoon()
  }

  tell(): void {
    this.#telling = false
    this.runInAsyncScope(Answer.#tellInContext, undefined, this)
    if (!this.#paused && this.#queued === 0) this.drained()
  }

  #tellSoon(): void {
    if (this.#telling) return
    this.#telling = true
    told.add(this)
  }

  static #tellInContext(this: void, answer: Answer): void {
    try {
      answer.#tellNow()
    } catch (error) {
      // The handler's own fault: its owner hears of it as of any exception, in its context.
      process.nextTick(rethrow, error)
      answer.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #tellNow(): void {
    if (this.#information !== undefined) this.#tellInformation()
    if (this.#drainDue) this.#tellDrain()
    if (this.#head !== undefined) this.#tellHead()
    if (this.#chunks !== undefined && !this.#paused) this.#tellChunks()
    if (this.#state !== 'open' && this.#chunks === undefined && !this.#paused) this.#tellOutcome()
  }

  #tellInformation(): void {
    const information = this.#information!
    this.#information = undefined
    for (const { status, headers } of information) this.#handler.onInformation?.(status, headers)
  }

  #tellDrain(): void {
    this.#drainDue = false
    this.#handler.onDrain?.()
  }

  #tellHead(): void {
    const head = this.#head!
    this.#head = undefined
    this.#handler.onHead(head)
  }

  #tellChunks(): void {
    const chunks = this.#chunks!
    let told = 0
    try {
      while (told < chunks.length && !this.#paused && this.#chunks === chunks) {
        const chunk = chunks[told++]!
        this.#queued -= chunk.length
        // A handler that gives up answers false too, and then has its error to hear.
        if (!this.#handler.onData(chunk) && this.#chunks === chunks) this.#paused = true
      }
    } finally {
      if (this.#chunks === chunks) this.#chunks = told < chunks.length ? chunks.slice(told) : undefined
    }
  }

  #tellOutcome(): void {
    if (this.#state === 'told') return
    this.#state = 'told'
    this.ended(this.#status, this.#failure)
    if (this.#failure === undefined) this.#handler.onEnd(this.#trailers)
    else this.#handler.onError(this.#failure)
  }
}

function rethrow(error: unknown): never {
  throw error
}
