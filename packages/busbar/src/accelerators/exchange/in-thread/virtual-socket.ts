import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import { ownConnection } from '../../../mesh/http/exchange.ts'
import { type Done, HandleSocket } from '../../../node/handle-socket.ts'
import { parseSilently, parserOf } from '../../../node/parser.ts'
import { isLast } from '../../../node/response.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { InThreadExchange } from './in-thread-exchange.ts'
import { captureResponse } from './response-capture.ts'
import type { CaughtHead } from './response-head.ts'
import type { VirtualHandle } from './virtual-handle.ts'

/** Shorter ones, which tests have, get a timer of their own. */
const longTimeout = 2_000

/** What the server's parser is shown of a request whose body is still coming, and of that body's end. */
const unfinishedRequest = Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n')
const endOfRequest = Buffer.from('0\r\n\r\n')

/**
 * The program's end of a connection that has no wire. To Node's HTTP server it is an accepted `net.Socket`: timeouts,
 * counting, `destroy`, corking and backpressure are Node's own code; only the handle underneath is ours.
 *
 * Requests enter by the callbacks of the server's own parser, behind the text. Responses leave in one of two ways:
 * - as *payload*: the response's head was caught as fields (`response-capture.ts`), what is written is its body;
 * - as *text*: whatever else is written to the socket (1xx, Node's own 408, a program that writes by itself, a head that
 *   is not plain) goes through a real response parser, so that the caller sees what a client would have seen.
 */
export class VirtualSocket extends HandleSocket {
  readonly [ownConnection] = true
  /** The call this connection carries; null between two calls. */
  exchange: InThreadExchange | null = null
  /** On the pool's clock; Infinity while a call is underway. */
  idleSince = Infinity
  #idleLimit = 0
  readonly #pool: ConnectionPool
  readonly #handle: VirtualHandle
  /** Written before the head was caught and not yet through: it is text. In the units of `writableLength`. */
  #textPending = 0
  #held: HeldWrite | undefined
  /** The caller has room for more. */
  #taken = true
  #requestOpen = false
  /** The caller has gone. A connection that is not being read does not notice, as with a real one. */
  #peerGone: 'no' | 'unseen' | 'seen' = 'no'

  constructor(pool: ConnectionPool, server: Server, handle: VirtualHandle) {
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
    // Node has made the objects for the program, which gets them next.
    if (next !== null) captureResponse(next)
    else if (previous !== null) this.#responseDetached(previous, exchange)
  }

  /** Runs the program's request listener. Inside `endpoint.enter`; what the program throws comes out. */
  begin(exchange: InThreadExchange): void {
    const parser = parserOf(this)
    if (parser === undefined) return exchange.hungUp()
    const { request, plan, upload } = exchange
    this.exchange = exchange
    this.idleSince = Infinity
    this.#requestOpen = true
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

  /** Whether the program takes more of the request's body now. */
  get reading(): boolean {
    return this.#handle.reading && this.#peerGone === 'no' && !this.destroyed
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
    this.#requestOpen = false
    if (rawTrailers !== null) this.#pool.callbacks.headers.call(parser, rawTrailers, '')
    this.#pool.callbacks.messageComplete.call(parser)
    if (exchange === null) return
    if (exchange.upload !== undefined && parserOf(this) === parser) parseSilently(parser, endOfRequest)
    if (this.response === null) this.#recycle(exchange)
  }

  /** What is written from now on is the response's body. */
  headCaught(head: CaughtHead): void {
    this.#textPending = this.writableLength
    this.exchange!.catchHead(head)
  }

  /** False where something is on its way already, or this is not all of the response. */
  takeWhole(data: string | Uint8Array, encoding: unknown): boolean {
    if (this.exchange === null || this.writableLength !== 0 || this.destroyed || !this.writable) return false
    const bytes = this.exchange.takeWhole(data, encoding)
    if (bytes === -1) return false
    this.#handle.bytesWritten += bytes
    return true
  }

  /** The program has called `end`. What is written is out, unless the caller has no room for it. */
  responseEnded(): void {
    if (this.writableLength === 0) this.exchange?.finished()
  }

  /** A write waits for the caller to read on. */
  get isHolding(): boolean {
    return this.#held !== undefined
  }

  /** The caller has read on: a write that waited is done. Inside `endpoint.enter`. */
  release(): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    process.nextTick(completeWrite, held)
  }

  /**
   * The caller closed its end. With response data underway that nobody will read, a kernel answers with a reset;
   * otherwise the program sees the end of the stream, when it reads. Inside `endpoint.enter`.
   */
  hangUp(unread: boolean): void {
    if (this.destroyed || this.#peerGone !== 'no') return
    const held = this.#held
    this.#held = undefined
    if (held !== undefined || unread) {
      this.#peerGone = 'seen'
      this.destroy(connectionReset())
    } else if (this.#handle.reading) this.#endOfStream()
    else this.#peerGone = 'unseen'
  }

  protected override send(chunk: string | Uint8Array, encoding: BufferEncoding): void {
    if (this.exchange !== null) this.#taken = this.#pass(this.exchange, chunk, encoding)
  }

  protected override sent(done: Done): void {
    if (this.#taken) done()
    else this.#held = new HeldWrite(done)
    this.#taken = true
  }

  /**
   * Node's server sets the keep-alive timeout after each answer and clears it at the next request. A timer each time
   * would be 4 % of a call: the pool looks at all of its connections once a second instead.
   */
  override setTimeout(milliseconds: number, callback?: () => void): this {
    if (this.idleSince === Infinity || milliseconds < longTimeout || callback !== undefined)
      return super.setTimeout(milliseconds, callback)
    // One that the program set for its call.
    if (this.timeout) super.setTimeout(0)
    this.#idleLimit = milliseconds
    return this
  }

  isExpired(clock: number): boolean {
    return this.#idleLimit > 0 && clock - this.idleSince > this.#idleLimit
  }

  override resetAndDestroy(): this {
    return this.destroy()
  }

  #pass(exchange: InThreadExchange, chunk: string | Uint8Array, encoding: BufferEncoding): boolean {
    if (this.#textPending === 0 && exchange.isHeadCaught) return exchange.takePayload(chunk, encoding)
    this.#textPending = Math.max(0, this.#textPending - chunk.length)
    return exchange.takeText(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk))
  }

  #responseDetached(response: ServerResponse, exchange: InThreadExchange): void {
    // A program that takes the response off by itself means to write by itself; nothing is finished.
    if (!response.writableFinished) return exchange.spoil()
    exchange.finished()
    if (isLast(response)) exchange.spoil()
    else if (!this.#requestOpen) this.#recycle(exchange)
  }

  /** Both sides are done. A connection that cannot carry another call is closed by the caller's end, as a client does. */
  #recycle(exchange: InThreadExchange): void {
    exchange.free()
    if (exchange.isReusable && this.#peerGone === 'no') {
      this.exchange = null
      this.#textPending = 0
      this.#idleLimit = 0
      this.#pool.give(this)
    } else process.nextTick(() => this.hangUp(false))
  }

  #readingAgain(): void {
    if (this.#peerGone === 'unseen') process.nextTick(() => this.#endOfStream())
    else this.exchange?.upload?.wanted()
  }

  #endOfStream(): void {
    this.#peerGone = 'seen'
    if (this.destroyed) return
    // As `onStreamRead` does (lib/internal/stream_base_commons.js).
    this.push(null)
    this.read(0)
  }

  #programEnded(): void {
    this.exchange?.hungUp()
    setImmediate(() => this.hangUp(false))
  }

  #closed(): void {
    this.#pool.remove(this)
    this.exchange?.hungUp()
    this.exchange?.free()
    this.exchange = null
    this.#held = undefined
  }
}

/** A write the caller has no room for. Its completion runs where the write was made. */
class HeldWrite extends AsyncResource {
  readonly done: Done
  constructor(done: Done) {
    super('BusbarWrite', { requireManualDestroy: true })
    this.done = done
  }
}

function completeWrite(held: HeldWrite): void {
  held.runInAsyncScope(held.done, null, null)
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { errno: -104, code: 'ECONNRESET', syscall: 'read' })
}
