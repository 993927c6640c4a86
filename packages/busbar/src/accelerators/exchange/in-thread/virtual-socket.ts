import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Server, Socket } from 'node:net'
import { dedicatedConnection } from '../../../mesh/http/exchange.ts'
import { systemError } from '../../../mesh/sockets/system-error.ts'
import { type Done, HandleSocket } from '../../../node/handle-socket.ts'
import { parseSilently, parserOf, type RequestCallbacks } from '../../../node/parser.ts'
import { isLast } from '../../../node/response.ts'
import { HeldWrite } from './held-write.ts'
import { captureResponse, type CapturingSocket } from './response-capture.ts'
import type { CapturedHead } from './response-head.ts'
import type { ResponseReceiver } from './response-receiver.ts'
import { isLarge, UnpassedPieces } from './unpassed-pieces.ts'
import type { UploadTarget } from './upload.ts'
import type { VirtualHandle } from './virtual-handle.ts'

/** In milliseconds. Shorter timeouts, as in tests, get a timer of their own. */
const longTimeout = 2_000

/** Text that the server's parser gets for a request with an upload, and for its end. */
const unfinishedRequest = Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n')
const endOfRequest = Buffer.from('0\r\n\r\n')

/** The pool to which a connection returns after a call. */
export interface SocketPool {
  /** The callbacks of the server's parsers. */
  readonly callbacks: RequestCallbacks
  readonly answered: ((request: IncomingMessage) => void) | undefined
  release(socket: VirtualSocket): void
  remove(socket: VirtualSocket): void
}

/**
 * The program's end of a virtual connection, which has no system socket. To Node's HTTP server it
 * is an accepted `net.Socket`: timeouts, counting, `destroy`, corking and backpressure are Node's
 * own code. Only its handle is custom.
 *
 * Requests enter by the callbacks of the server's own parser. Responses leave in one of two forms:
 * - as *body*: the head was captured as fields (`response-capture.ts`), and what is written is the
 *   body;
 * - as *text*: anything else that is written to the socket (1xx, Node's own 408, direct writes of a
 *   program, a head that is not wire-safe) is parsed as a client would parse it.
 */
export class VirtualSocket extends HandleSocket implements CapturingSocket, UploadTarget {
  readonly [dedicatedConnection] = true
  /** The call that this connection carries; null between two calls. */
  exchange: ResponseReceiver | null = null
  /** Time on the pool's clock; Infinity during a call. */
  idleSince = Infinity
  #idleLimit = 0
  readonly #pool: SocketPool
  readonly #handle: VirtualHandle
  /** Text that was written before the head was captured, in the units of `writableLength`. */
  #textPending = 0
  #held: HeldWrite | undefined
  readonly #rest = new UnpassedPieces()
  /** The caller has room for more. */
  #hasRoom = true
  #isRequestOpen = false
  /** Whether the caller has closed. As with a real connection, only reading notices it. */
  #callerClosed: 'no' | 'unseen' | 'seen' = 'no'

  constructor(pool: SocketPool, server: Server, handle: VirtualHandle) {
    super(server, handle)
    this.#pool = pool
    this.#handle = handle
    handle.attach({
      reading: () => this.#readingAgain(),
      ended: () => this.#programEnded(),
      closed: () => this.#closed(),
    })
  }

  protected override responseChanged(next: ServerResponse | null, previous: ServerResponse | null): void {
    const { exchange } = this
    if (exchange === null) return
    // Node has created the objects, and passes them to the program next.
    if (next !== null) captureResponse(next)
    else if (previous !== null) this.#responseDetached(previous, exchange)
  }

  /**
   * Runs the program's request listener, inside `endpoint.enter`. Throws what the program throws.
   */
  begin(exchange: ResponseReceiver): void {
    const parser = parserOf(this)
    if (parser === undefined) return exchange.connectionClosed()
    const { request, plan, upload } = exchange
    this.exchange = exchange
    this.idleSince = Infinity
    this.#isRequestOpen = true
    if (upload !== undefined) parseSilently(parser, unfinishedRequest)
    this.#pool.callbacks.headersComplete.call(
      parser,
      1,
      1,
      request.rawHeaders,
      plan.method,
      request.path,
      undefined,
      undefined,
      false,
      plan.keepAlive,
    )
    if (upload !== undefined) return upload.start(this)
    if (exchange.body !== null) this.receive(exchange.body)
    this.receiveEnd(null)
  }

  /** True if the program reads the request's body now. */
  get reading(): boolean {
    return this.#handle.reading && this.#callerClosed === 'no' && !this.destroyed
  }

  receive(chunk: Uint8Array): void {
    const parser = parserOf(this)
    if (parser === undefined) return
    this.#handle.bytesRead += chunk.length
    this.#pool.callbacks.body.call(parser, chunk)
  }

  receiveEnd(rawTrailers: string[] | null): void {
    const { exchange } = this
    const parser = parserOf(this)
    if (parser === undefined) return
    this.#isRequestOpen = false
    if (rawTrailers !== null) this.#pool.callbacks.headers.call(parser, rawTrailers, '')
    this.#pool.callbacks.messageComplete.call(parser)
    if (exchange === null) return
    if (exchange.upload !== undefined && parserOf(this) === parser) parseSilently(parser, endOfRequest)
    if (this.response === null) this.#recycle(exchange)
  }

  /** What is written from now on is the body. */
  headCaptured(head: CapturedHead): void {
    this.#textPending = this.writableLength
    this.exchange!.headCaptured(head)
  }

  receiveTrailers(lines: string): void {
    this.exchange?.receiveTrailers(lines)
  }

  sendWhole(data: string | Uint8Array, encoding: unknown): boolean {
    if (this.exchange === null || this.writableLength !== 0 || this.destroyed || !this.writable) return false
    if (isLarge(data)) return false
    const bytes = this.exchange.receiveWhole(data, encoding)
    if (bytes === -1) return false
    this.#handle.bytesWritten += bytes
    return true
  }

  /** The program has called `end`. All was sent, unless the caller has no room. */
  responseEnded(): void {
    if (this.writableLength === 0) this.exchange?.finished()
  }

  /** True if a write waits for the caller to read on. */
  get isHolding(): boolean {
    return this.#held !== undefined
  }

  /** The caller has read on: the write that waited goes on, or is over. Inside `endpoint.enter`. */
  release(): void {
    const held = this.#held
    if (held === undefined || !this.#passRest()) return
    this.#held = undefined
    held.completeSoon()
  }

  /**
   * The caller closes its end. Like a kernel, resets the connection if response data is unread;
   * otherwise the program gets the end of the stream when it reads. Inside `endpoint.enter`.
   */
  hangUp(isUnread: boolean): void {
    if (this.destroyed || this.#callerClosed !== 'no') return
    const isHolding = this.isHolding
    this.#drop()
    if (isHolding || isUnread) {
      this.#callerClosed = 'seen'
      this.destroy(systemError('read', 'ECONNRESET'))
    } else if (this.#handle.reading) this.#endOfStream()
    else this.#callerClosed = 'unseen'
  }

  protected override send(chunk: string | Uint8Array, encoding: BufferEncoding): void {
    if (this.exchange === null) return
    if (isLarge(chunk) || !this.#rest.isEmpty) this.#rest.add({ chunk, encoding })
    else this.#hasRoom = this.#pass(this.exchange, chunk, encoding)
  }

  protected override sent(done: Done): void {
    const hasRoom = this.#hasRoom
    if (hasRoom && this.#passRest()) done()
    else this.#held = new HeldWrite(this, done)
    this.#hasRoom = true
  }

  /**
   * Node's server sets the keep-alive timeout after each response and clears it at the next
   * request. A timer each time would be 4 % of the cost of a call. Instead, the pool checks all of
   * its connections once a second.
   */
  override setTimeout(milliseconds: number, callback?: () => void): this {
    if (this.idleSince === Infinity || milliseconds < longTimeout || callback !== undefined)
      return super.setTimeout(milliseconds, callback)
    // Clears a timeout that the program has set during the call.
    if (this.timeout) super.setTimeout(0)
    this.#idleLimit = milliseconds
    return this
  }

  isExpired(clock: number): boolean {
    return this.#idleLimit > 0 && clock - this.idleSince > this.#idleLimit
  }

  override resetAndDestroy(): this {
    this.exchange?.connectionReset()
    return this.destroy()
  }

  /** False if some is left, or the caller has no room for more: {@link release} follows. */
  #passRest(): boolean {
    if (this.#rest.isEmpty) return true
    const { exchange } = this
    if (exchange === null) return true
    const isBody = this.#textPending === 0 && exchange.isHeadCaptured
    return this.#rest.pass(isBody, (chunk, encoding) => this.#pass(exchange, chunk, encoding))
  }

  #drop(): void {
    this.#held = undefined
    this.#rest.clear()
  }

  #pass(exchange: ResponseReceiver, chunk: string | Uint8Array, encoding: BufferEncoding): boolean {
    if (this.#textPending === 0 && exchange.isHeadCaptured) return exchange.receiveBody(chunk, encoding)
    this.#textPending = Math.max(0, this.#textPending - chunk.length)
    return exchange.receiveText(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk))
  }

  #responseDetached(response: ServerResponse, exchange: ResponseReceiver): void {
    // The program has detached the response, to write to the socket itself.
    if (!response.writableFinished) return exchange.markUnusable()
    exchange.finished()
    this.#pool.answered?.(response.req)
    if (isLast(response)) exchange.markUnusable()
    else if (!this.#isRequestOpen) this.#recycle(exchange)
  }

  /**
   * Request and response are complete. If the connection cannot be reused, closes it as a client
   * does.
   */
  #recycle(exchange: ResponseReceiver): void {
    exchange.free()
    if (exchange.isReusable && this.#callerClosed === 'no') {
      this.exchange = null
      this.#textPending = 0
      this.#idleLimit = 0
      this.#pool.release(this)
    } else process.nextTick(() => this.hangUp(false))
  }

  #readingAgain(): void {
    if (this.#callerClosed === 'unseen') process.nextTick(() => this.#endOfStream())
    else this.exchange?.upload?.schedule()
  }

  #endOfStream(): void {
    this.#callerClosed = 'seen'
    if (this.destroyed) return
    // As `onStreamRead` does (lib/internal/stream_base_commons.js).
    this.push(null)
    this.read(0)
  }

  #programEnded(): void {
    this.exchange?.connectionClosed()
    setImmediate(() => this.hangUp(false))
  }

  #closed(): void {
    this.#pool.remove(this)
    this.exchange?.connectionClosed()
    this.exchange?.free()
    this.exchange = null
    this.#drop()
  }

  static {
    // Programs and logs see Node's class.
    Object.defineProperty(this.prototype, 'constructor', { value: Socket })
  }
}
