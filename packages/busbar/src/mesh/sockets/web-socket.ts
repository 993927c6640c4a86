import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocketClose } from '../../shared/time/stop-times.ts'

/** Milliseconds for the close frame to reach the client before the end of the connection. */
const frameTime = 200
/** Milliseconds from one look at the program's writes to the next. */
const lookEvery = 10
/** Milliseconds that a client has to close its end. */
const closeTime = 2000

/**
 * The server's end of an upgraded connection, which can be closed in place of the program. What the
 * program sends is followed from the upgrade on: a close frame may only come between two frames.
 */
export class WebSocketConnection {
  readonly #socket: Socket
  readonly #frames = new SentFrames()
  readonly #write: Socket['write']
  /** Looks since the program wrote last. */
  #looks = 0
  #closing: Promise<void> | undefined
  #isClosed = false
  #boundary: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    this.#write = socket.write.bind(socket)
    const value = (...args: unknown[]): boolean => this.#send(args)
    Object.defineProperty(socket, 'write', { value, configurable: true, writable: true })
  }

  /** Resolves when the connection has ended. The other end gets every message that was answered. */
  close(close: WebSocketClose): Promise<void> {
    this.#closing ??= this.#close(close)
    return this.#closing
  }

  /**
   * What the client still sends is not passed on: it would be answered after the close frame, which
   * nobody could read. It is read, since unread bytes would make the system reset the connection.
   */
  async #close({ code, quiet }: WebSocketClose): Promise<void> {
    const socket = this.#socket
    if (this.#frames.hasClosed) {
      // The program waits for the client's close frame.
      await this.#untilClosed(closeTime)
      socket.destroy()
      return
    }
    socket.unpipe()
    for (const event of ['data', 'readable']) socket.removeAllListeners(event)
    socket.on('data', () => {})
    socket.resume()
    await this.#untilQuiet(quiet / 2, 2 * quiet)
    await this.#untilBoundary(quiet)
    this.#isClosed = true
    if (!socket.writable) return
    if (!this.#frames.hasClosed) this.#write(Uint8Array.of(0x88, 2, code >> 8, code & 0xff))
    await this.#untilClosed(frameTime)
    socket.end()
    await this.#untilClosed(closeTime)
    socket.destroy()
  }

  /**
   * Counts turns of the event loop, not time: a program whose loop or machine is busy is not quiet,
   * it has not come to its answers yet.
   */
  async #untilQuiet(quiet: number, limit: number): Promise<void> {
    const socket = this.#socket
    this.#looks = 0
    for (let all = 0; all < limit / lookEvery && !socket.destroyed; all++) {
      if (this.#looks++ >= quiet / lookEvery && socket.writableLength === 0) return
      await sleep(lookEvery)
    }
  }

  async #untilBoundary(limit: number): Promise<void> {
    if (this.#frames.atBoundary) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#boundary = resolve
    const timer = setTimeout(resolve, limit)
    await promise
    clearTimeout(timer)
  }

  async #untilClosed(limit: number): Promise<void> {
    if (this.#socket.closed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limit)
    this.#socket.once('close', resolve)
    await promise
    clearTimeout(timer)
    this.#socket.off('close', resolve)
  }

  /** After the close frame, nothing may follow (RFC 6455, 5.5.1). */
  #send(args: unknown[]): boolean {
    if (this.#isClosed) {
      const written = args.at(-1)
      if (typeof written === 'function') queueMicrotask(() => Reflect.apply(written, undefined, [null]))
      return true
    }
    const [chunk, encoding] = args
    this.#looks = 0
    this.#frames.add(bytesOf(chunk, encoding))
    const more = Reflect.apply(this.#write, this.#socket, args) as boolean
    if (this.#frames.atBoundary) this.#boundary?.()
    return more
  }
}

/** The bytes that a socket writes for `chunk`. None if it will throw. */
function bytesOf(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string') return Buffer.from(chunk, encodingOf(encoding))
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : noBytes
}

const noBytes = new Uint8Array()

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
}

/** RFC 6455, 5.5.1. */
const closeOpcode = 8

/** Finds the ends of the frames that a server sends after its response head. They have no mask. */
export class SentFrames {
  /** A close frame has begun. */
  hasClosed = false
  /** How much of the empty line after the head has been seen: `\r\n\r\n`. */
  #ofHead = 0
  /** The header of the frame that has begun. */
  #header: number[] = []
  /** Bytes of the payload that are to come. */
  #left = 0

  get atBoundary(): boolean {
    return this.#ofHead === 4 && this.#left === 0 && this.#header.length === 0
  }

  add(bytes: Uint8Array): void {
    let at = this.#skipHead(bytes)
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at)
        this.#left -= taken
        at += taken
      } else {
        this.#header.push(bytes[at++]!)
        this.#readHeader()
      }
    }
  }

  #skipHead(bytes: Uint8Array): number {
    let at = 0
    for (; this.#ofHead < 4 && at < bytes.length; at++) {
      const wanted = this.#ofHead % 2 === 0 ? 13 : 10
      if (bytes[at] === wanted) this.#ofHead++
      else this.#ofHead = bytes[at] === 13 ? 1 : 0
    }
    return at
  }

  /** RFC 6455, 5.2: 7 bits of length, or 16 or 64 more. */
  #readHeader(): void {
    const header = this.#header
    if (header.length < 2) return
    const short = header[1]! & 0x7f
    const more = short === 126 ? 2 : short === 127 ? 8 : 0
    if (header.length < 2 + more) return
    if ((header[0]! & 0xf) === closeOpcode) this.hasClosed = true
    this.#left = more === 0 ? short : header.slice(2).reduce((length, byte) => length * 256 + byte, 0)
    this.#header = []
  }
}

export interface WebSocketEnding {
  readonly close: WebSocketClose
  readonly signal: AbortSignal
}

/** The open WebSockets of a service or a gateway. */
export class WebSockets {
  readonly #open = new Set<WebSocketConnection>()

  /** `socket` of an upgrade, to whatever protocol. `ending`: how it ends when the signal aborts. */
  addIf({ headers }: Pick<IncomingMessage, 'headers'>, socket: Socket, ending?: WebSocketEnding): void {
    if (headers.upgrade?.toLowerCase() !== 'websocket') return
    const connection = new WebSocketConnection(socket)
    this.#open.add(connection)
    const abort = (): void => {
      const { close } = ending!
      const timer = setTimeout(() => void connection.close(close), close.after)
      socket.once('close', () => clearTimeout(timer))
    }
    ending?.signal.addEventListener('abort', abort)
    socket.once('close', () => {
      this.#open.delete(connection)
      ending?.signal.removeEventListener('abort', abort)
    })
  }

  /** Resolves when all have ended. Those that are open after `close.after` are closed. */
  async close(close: WebSocketClose, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + close.after
    while (this.#open.size > 0 && performance.now() < deadline && signal?.aborted !== true) await sleep(20)
    await Promise.all([...this.#open].map((connection) => connection.close(close)))
  }
}
