import type { CallCount } from '../../../contract/host/host.ts'
import type { LocalEndpoint } from '../../../mesh/endpoint.ts'
import { refusedBy } from '../../../mesh/refusals.ts'
import type { Scope } from '../../../mesh/scope.ts'
import { Answer } from '../answer.ts'
import type { Chunk } from '../answer.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { closedByProgram } from '../../../mesh/http/errors.ts'
import { badUpgrade, callAborted, noFinalStatus } from '../errors.ts'
import { foldHeaders, foldTrailers } from '../../../mesh/http/header-fields.ts'
import type { RequestPlan } from '../request-plan.ts'
import type { CaughtHead } from './response-head.ts'
import { ResponseText } from './response-text.ts'
import type { TextReader } from './response-text.ts'
import { Turn } from '../../../mesh/turn.ts'
import { Starts } from './starts.ts'
import { Upload } from './upload.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/** Larger whole bodies go piece by piece. */
const largeBody = 64 * 1024
/** What one call may pass in one turn of the event loop before all others get theirs. */
const maxPerTurn = 256 * 1024

const starts = new Starts<InThreadExchange>((exchange) => exchange.start())
const uploads = new Turn<InThreadExchange>(setImmediate, (exchange) => exchange.passUpload())

/** One call: the caller's side is the {@link Answer}, the program's side is here and runs in `endpoint.enter`. */
export class InThreadExchange extends Answer implements Exchange {
  readonly request: ExchangeRequest
  readonly plan: RequestPlan
  /** A small whole body; all others are an upload. */
  readonly body: Uint8Array | null = null
  readonly upload: Upload | undefined
  readonly #endpoint: LocalEndpoint
  readonly #pool: ConnectionPool
  readonly #scope: Scope
  #socket: VirtualSocket | undefined
  /** Where this call is counted, from when it has begun. */
  #count: CallCount | undefined
  #isAborted = false
  #uploadDue = false
  #head: CaughtHead | undefined
  #headPut = false
  /** Of a body whose length was stated: what is to come. */
  #left = Infinity
  #trailers = ''
  #text: ResponseText | undefined
  #spoilt = false
  #thisTurn = 0

  constructor(
    endpoint: LocalEndpoint,
    request: ExchangeRequest,
    plan: RequestPlan,
    scope: Scope,
    handler: ExchangeHandler,
  ) {
    super(handler)
    this.request = request
    this.plan = plan
    this.#endpoint = endpoint
    this.#pool = ConnectionPool.of(endpoint)
    this.#scope = scope
    const { body } = request
    if (request.streamed) this.upload = new Upload(this, plan.contentLength)
    else if (body !== null && body.length > 0) {
      const bytes = bytesOf(body)
      if (bytes.length > largeBody) this.upload = Upload.whole(this, bytes)
      else this.body = bytes
    }
    starts.add(this)
  }

  // The caller's side

  write(chunk: Uint8Array | string): boolean {
    return this.upload?.write(bytesOf(chunk)) ?? true
  }

  end(rawTrailers?: string[]): void {
    this.upload?.end(rawTrailers ?? null)
  }

  override abort(error?: Error): void {
    // After the answer, only what is left of the request can be given up.
    if (this.isTold && this.upload?.complete !== false) return
    this.#isAborted = true
    const unread = this.hasUntold
    this.cancel(error ?? callAborted(this.#endpoint.service))
    this.#enter(() => {
      if (this.#socket?.exchange === this) this.#socket.hangUp(unread)
    })
  }

  protected override drained(): void {
    if (this.#socket?.isHolding === true && this.#thisTurn < maxPerTurn) this.#enter(release)
  }

  protected override ended(status: number, failure: Error | undefined): void {
    // An answer that never began has no status.
    const isWhole = failure === undefined || this.#isAborted
    this.#count?.left(!isWhole || status === 0 || status >= 500)
  }

  // The program's side

  start(): void {
    if (!this.isOpen || this.#socket !== undefined) return
    if (this.#endpoint.state === 'stopped' || !this.#endpoint.server.listening)
      this.putFailure(refusedBy(this.#endpoint))
    else {
      this.#count = this.#endpoint.count
      this.#count?.began()
      this.#enter(begin)
    }
  }

  passUploadSoon(): void {
    if (this.#uploadDue) return
    this.#uploadDue = true
    uploads.add(this)
  }

  passUpload(): void {
    this.#uploadDue = false
    this.#enter(passUpload)
  }

  uploadDrained(): void {
    this.putDrain()
  }

  get isHeadCaught(): boolean {
    return this.#head !== undefined
  }

  catchHead(head: CaughtHead): void {
    this.#head = head
    if (head.framing === 'none') this.#left = 0
    else if (head.length >= 0) this.#left = head.length
  }

  /** All of a response at once. The number of bytes, or -1 where it is not all. */
  takeWhole(data: Chunk, encoding: unknown): number {
    const head = this.#head
    if (head === undefined || head.framing === 'chunked' || head.framing === 'close') return -1
    const isText = typeof data === 'string'
    if (isText && encoding !== undefined && encoding !== null && encoding !== 'utf8' && data !== '') return -1
    if (head.framing === 'stated' && Buffer.byteLength(data) !== head.length) return -1
    this.#headPut = true
    this.putHead(head)
    this.putChunk(isText ? wellFormed(data) : Buffer.from(data))
    this.putEnd()
    return head.framing === 'none' ? 0 : head.length
  }

  /** A piece of the body. False: the program should wait. */
  takePayload(data: Chunk, encoding: BufferEncoding): boolean {
    this.#putHeadOnce()
    if (data.length === 0 || !this.isOpen) return true
    let chunk = owned(data, encoding)
    if (this.#left !== Infinity) chunk = this.#withinLength(chunk)
    this.putChunk(chunk)
    if (this.#left === 0) this.putEnd()
    return this.#countTurn(chunk.length) && this.hasRoom
  }

  /** `bytes` must be ours. */
  takeText(bytes: Uint8Array): boolean {
    this.#text ??= new ResponseText(this.request, this.#textReader())
    this.#text.read(bytes)
    return this.#countTurn(bytes.length) && this.hasRoom
  }

  /** Lines of text, as a response keeps them. */
  takeTrailers(lines: string): void {
    this.#trailers = lines
  }

  /** All that the program wrote was taken, and that is all. */
  finished(): void {
    if (this.#head === undefined) return this.#textFinished()
    this.#putHeadOnce()
    if (!this.isOpen) return
    // Less than it promised: a client would wait for the rest until the server's keep-alive timeout, then fail.
    if (this.#left !== Infinity) this.hungUp()
    else this.putEnd(this.#trailers === '' ? undefined : foldTrailers(this.#trailers))
  }

  /** A client would take a last status below 200 for information, and wait for an answer until the keep-alive timeout. */
  #textFinished(): void {
    if (this.#text?.hasFinalHead !== false || !this.isOpen) return
    this.#broken(noFinalStatus(this.#endpoint.service, this.request))
  }

  /** The program closed the connection. */
  hungUp(): void {
    this.#spoilt = true
    if (!this.isOpen) return
    if (this.#text !== undefined && this.#head === undefined) this.#text.close()
    // Such a body ends where the connection does.
    else if (this.#headPut && this.#head!.framing === 'close') this.putEnd()
    else this.putFailure(this.#closedByProgram(), this.upload?.complete === false)
  }

  /** The connection cannot carry another call. */
  spoil(): void {
    this.#spoilt = true
  }

  /** Done with; what was read as text needs its parser no more. */
  free(): void {
    this.#text?.free()
  }

  get isReusable(): boolean {
    return this.isComplete && !this.#spoilt && this.plan.keepAlive && this.#head?.keepAlive === true
  }

  /** Runs the program's request listener. */
  begin(): void {
    const socket = this.#pool.take()
    if (socket === undefined) return this.hungUp()
    this.#socket = socket
    socket.begin(this)
  }

  release(): void {
    this.#socket?.release()
  }

  #enter(step: Step): void {
    this.#pool.entrance.enter(this.#scope, guarded, this, step)
  }

  threw(error: unknown): void {
    process.nextTick(rethrow, error)
  }

  #putHeadOnce(): void {
    if (this.#headPut) return
    this.#headPut = true
    this.putHead(this.#head!)
    if (this.#left === 0) this.putEnd()
  }

  /** A client takes as much as the head said, and closes the connection over the rest. */
  #withinLength(chunk: Chunk): Chunk {
    const length = Buffer.byteLength(chunk)
    if (length <= this.#left) {
      this.#left -= length
      return chunk
    }
    this.#spoilt = true
    const bytes = (typeof chunk === 'string' ? Buffer.from(chunk) : chunk).subarray(0, this.#left)
    this.#left = 0
    return bytes
  }

  /** False: enough for this turn, the rest waits for the next. */
  #countTurn(length: number): boolean {
    if (this.#thisTurn === 0) setImmediate(nextTurn, this)
    this.#thisTurn += length
    return this.#thisTurn < maxPerTurn
  }

  nextTurn(): void {
    this.#thisTurn = 0
    if (this.hasRoom) this.drained()
  }

  #textReader(): TextReader {
    return {
      information: (status, rawHeaders) => this.putInformation(status, foldHeaders(rawHeaders)),
      head: (status, statusText, rawHeaders) => {
        this.#spoilt = true
        if (status === 101) this.#broken(badUpgrade())
        else this.putHead({ status, statusText, headers: foldHeaders(rawHeaders), rawHeaders })
      },
      data: (chunk) => this.putChunk(chunk),
      end: (rawTrailers) => this.putEnd(foldTrailers(rawTrailers)),
      broken: (error) => this.#broken(error ?? this.#closedByProgram()),
    }
  }

  /** A client closes a connection on which it finds something else than HTTP. */
  #broken(error: Error): void {
    this.putFailure(error, this.upload?.complete === false)
    process.nextTick(() => this.#socket?.hangUp(false))
  }

  #closedByProgram(): Error {
    return closedByProgram(this.#endpoint.service, this.request)
  }
}

type Step = (exchange: InThreadExchange) => void

// Not closures: one call makes none.
const begin: Step = (exchange) => exchange.begin()
const passUpload: Step = (exchange) => exchange.upload?.pass()
const release: Step = (exchange) => exchange.release()

function guarded(exchange: InThreadExchange, step: Step): void {
  try {
    step(exchange)
  } catch (error) {
    exchange.threw(error)
  }
}

function nextTurn(exchange: InThreadExchange): void {
  exchange.nextTurn()
}

/** A copy: the caller may use the memory again. */
function bytesOf(body: Chunk): Buffer {
  return Buffer.from(body as string)
}

/** What the program wrote, as the caller may keep it: text stays text, bytes are copied. */
function owned(data: Chunk, encoding: BufferEncoding): Chunk {
  if (typeof data !== 'string') return Buffer.from(data)
  return encoding === 'utf8' || encoding === 'utf-8' ? wellFormed(data) : Buffer.from(data, encoding)
}

/** As UTF-8 would carry it. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

function rethrow(error: unknown): never {
  throw error
}
