import { AsyncResource } from 'node:async_hooks'
import { type AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { creditReply, endings, endReply, flags, type TcpEnds } from './records.ts'
import { entersContext } from '../mesh/http/exchange.ts'
import type { IdleClock } from './idle-clock.ts'
import type { ExchangeId, Replies } from './replies.ts'
import { copied, creditStep, http2CreditStep, http2Window, window } from './windows.ts'

const readableEnded = Object.getOwnPropertyDescriptor(Readable.prototype, 'readableEnded')!

const nothing: Uint8Array[] = []

function push(this: Socket, bytes: Buffer): boolean {
  return this.push(bytes)
}

type Done = (error?: Error | null) => void

/**
 * The program's end of a client's connection: a `net.Socket` that implements the methods of a
 * stream itself, as Node's docs tell implementers to. Each request of the connection that comes to
 * this worker goes through it.
 */
export class ConnectionSocket extends Socket {
  readonly connection: number
  /** The request that is coming has a body in chunks. */
  inChunks = false
  /** The last request asked for another protocol. */
  isUpgrade = false
  /** What the program may write ahead of its client. */
  window = window
  readonly #replies: Replies
  readonly #ends: TcpEnds
  #id: ExchangeId
  #bytesRead = 0
  #bytesSent = 0
  /** Bytes of the request's body that the program has not consumed. */
  #unread = 0
  #isFull = false
  /** Bytes of the response that are not with the kernel, as far as is known. */
  #ahead = 0
  #held: Done | undefined
  /** Of that write: what the client has not made room for. It stays the program's own memory. */
  #rest = nothing
  /** Bytes of that write. They count as written when it is over. */
  #heldBytes = 0
  /** For the timeout; on the clock of {@link IdleClock}. */
  #idleLimit = 0
  #idleSince = 0
  #isTimed = false
  readonly #clock: IdleClock
  /** What the client has closed: its half of an upgraded connection, or all of another one. */
  #closed: 'half' | 'all' | undefined
  /** In which the program learns what its client does. Undefined: in that of the caller. */
  #context: AsyncResource | undefined
  /** What its end means for its client. */
  #ending: keyof typeof endings | 'silent' = 'destroyed'

  constructor(connection: number, id: ExchangeId, ends: TcpEnds, replies: Replies, clock: IdleClock) {
    super({ allowHalfOpen: true })
    this.connection = connection
    this.#id = id
    this.#ends = ends
    this.#replies = replies
    this.#clock = clock
  }

  [entersContext](): void {
    this.#context = new AsyncResource('BusbarConnection')
  }

  // The entrance's side

  /** A request begins. What was sent for the one before is no longer counted on either side. */
  begin(id: ExchangeId): void {
    this.#id = id
    this.#ahead = 0
    if (this.#held !== undefined) this.#release()
  }

  get epoch(): number {
    return this.#id.epoch
  }

  /** `consumed`: how many of these bytes Rust counts. */
  receive(bytes: Buffer, consumed: number): void {
    this.#bytesRead += bytes.length
    this.#unread += consumed
    this.#idleSince = this.#clock.now
    if (this.#context?.runInAsyncScope(push, this, bytes) ?? this.push(bytes)) this.#acknowledge()
    else this.#isFull = true
  }

  /**
   * Later than what came with it, as from the kernel. A response that is written while its request
   * is read is corked until the turn is over, and the end of that request may destroy the socket.
   */
  receiveEnd(): void {
    if (this.isUpgrade) this.#closed = 'half'
    setImmediate(() => {
      if (this.destroyed) return
      this.#enter(() => {
        this.push(null)
        if (this.readableLength === 0) this.read(0)
      })
    })
  }

  /**
   * As from the kernel, a client that leaves has ended what it sends. An upgraded connection whose
   * two halves have ended closes by itself, when the program has read the rest. `this.destroy` is
   * the program's: the gateway answers in its place.
   */
  receiveClose(reset: Error | undefined): void {
    if (this.destroyed || (this.#closed === 'half' && this.writableFinished && reset === undefined)) return
    if (!this.isUpgrade) this.#closed = 'all'
    this.#enter(() => super.destroy(this.isUpgrade ? reset : undefined))
  }

  sent(length: number): void {
    this.#ahead = Math.max(0, this.#ahead - length)
    if (this.#held !== undefined) this.#passRest()
  }

  // The program's side

  override _read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#acknowledge()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    if (typeof chunk !== 'string') this.#pass([chunk], chunk.length, done)
    else if (chunk.length > copied) this.#pass([Buffer.from(chunk, encoding)], Buffer.byteLength(chunk, encoding), done)
    else this.#passed(this.#replies.data(this.#id, chunk, encoding, flags.text), done)
  }

  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    if (chunks.length === 2 && chunks[0]!.encoding === 'latin1') {
      const [head, body] = [chunks[0]!.chunk, chunks[1]!.chunk]
      // How Node's server writes a response whose body is bytes.
      if (typeof head === 'string' && typeof body !== 'string' && head.length + body.length <= copied)
        return this.#passed(this.#replies.headAnd(this.#id, head, body, flags.text), done)
    }
    const all = chunks.map(({ chunk, encoding }) => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk))
    const length = all.reduce((sum, { length }) => sum + length, 0)
    // One write to the kernel, and to the client one packet, as with a real socket.
    this.#pass(length <= copied ? [Buffer.concat(all, length)] : all, length, done)
  }

  override _final(done: Done): void {
    this.#replies.signal(endReply, this.#id, 0)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#clock.remove(this)
    this.#held = undefined
    this.#rest = nothing
    if (this.#ending !== 'silent') this.#replies.signal(endings[this.#ending], this.#id, 0)
    this.#enter(() => {
      done(error)
      setImmediate(() => this.emit('close', error !== null))
    })
  }

  /** Node's server sets one behind each answer: real timers would cost more than all else here. */
  override setTimeout(milliseconds: number, callback?: () => void): this {
    this.#idleLimit = milliseconds
    this.#idleSince = this.#clock.now
    // It stays there until it is destroyed: a server clears and sets it with each request.
    if (!this.#isTimed && milliseconds > 0) {
      this.#isTimed = true
      this.#clock.add(this)
    }
    if (callback === undefined) return this
    return milliseconds === 0 ? this.off('timeout', callback) : this.once('timeout', callback)
  }

  /** Its worker stops. The next request of its client goes to another one. */
  forget(): void {
    this.#ending = 'silent'
    this.destroy()
  }

  checkIdle(now: number): void {
    if (this.#idleLimit === 0 || now - this.#idleSince < this.#idleLimit) return
    // As under Node, once until bytes come or go.
    this.#idleSince = Infinity
    // Node's server closes it. Between two requests, the entrance says how long a client may idle.
    this.#ending = 'expired'
    this.#enter(() => this.emit('timeout'))
    if (!this.destroyed) this.#ending = 'destroyed'
  }

  override resetAndDestroy(): this {
    this.#ending = 'reset'
    return this.destroy()
  }

  // Connections do not keep the worker alive.
  override ref(): this {
    return this
  }

  override unref(): this {
    return this
  }

  override address(): AddressInfo {
    return { ...this.#ends.local }
  }

  #enter(call: () => void): void {
    if (this.#context === undefined) call()
    else this.#context.runInAsyncScope(call)
  }

  #pass(pieces: Uint8Array[], length: number, done: Done): void {
    this.#rest = pieces
    this.#held = done
    this.#heldBytes = length
    this.#passRest()
    this.#hold()
  }

  #passed(length: number, done: Done): void {
    this.#idleSince = this.#clock.now
    this.#ahead += length
    this.#held = done
    this.#heldBytes = length
    if (this.#ahead < this.window) this.#release()
    else this.#hold()
  }

  /** As with the kernel, a write that has to wait is over in the context in which it was made. */
  #hold(): void {
    if (this.#held !== undefined) this.#held = AsyncResource.bind(this.#held)
  }

  /** As much as the client has room for. */
  #passRest(): void {
    this.#idleSince = this.#clock.now
    const rest = this.#rest
    let at = 0
    while (at < rest.length && this.#ahead < this.window) {
      const piece = rest[at]!
      const part = piece.subarray(0, this.window - this.#ahead)
      this.#ahead += this.#replies.data(this.#id, part, 'latin1', flags.text)
      if (part.length === piece.length) at++
      else rest[at] = piece.subarray(part.length)
    }
    if (at > 0) rest.splice(0, at)
    if (rest.length === 0 && this.#ahead < this.window) this.#release()
  }

  #release(): void {
    const held = this.#held
    this.#bytesSent += this.#heldBytes
    this.#held = undefined
    this.#heldBytes = 0
    this.#rest = nothing
    held?.()
  }

  #acknowledge(): void {
    if (this.#unread < (this.window === http2Window ? http2CreditStep : creditStep)) return
    this.#replies.signal(creditReply, this.#id, this.#unread)
    this.#unread = 0
  }

  static {
    const getters: Readonly<Record<string, (socket: ConnectionSocket) => unknown>> = {
      connecting: () => false,
      pending: () => false,
      readableEnded: (socket) => socket.#closed === 'all' || readableEnded.get!.call(socket),
      timeout: (socket) => socket.#idleLimit,
      bytesRead: (socket) => socket.#bytesRead,
      bytesWritten: (socket) => socket.#bytesSent + socket.writableLength,
      bufferSize: (socket) => socket.writableLength,
      localAddress: (socket) => socket.#ends.local.address,
      localPort: (socket) => socket.#ends.local.port,
      localFamily: (socket) => socket.#ends.local.family,
      remoteAddress: (socket) => socket.#ends.remote.address,
      remotePort: (socket) => socket.#ends.remote.port,
      remoteFamily: (socket) => socket.#ends.remote.family,
    }
    for (const [name, get] of Object.entries(getters))
      Object.defineProperty(this.prototype, name, {
        get(this: ConnectionSocket): unknown {
          return get(this)
        },
        // Node's own constructor writes some.
        set() {},
        configurable: true,
      })
  }
}
