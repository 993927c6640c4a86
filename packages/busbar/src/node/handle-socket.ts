/**
 * A `net.Socket` over a handle written in JavaScript (lib/net.js). Node's own code does everything
 * except reading and writing. Writes do not go through the handle, since a handle reports through
 * buffers that only C++ can reach. They are intercepted in `_writeGeneric`, which all writes call.
 */
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, type Server, Socket } from 'node:net'

export type Done = (error?: Error | null) => void

export interface Piece {
  readonly chunk: string | Uint8Array
  readonly encoding: BufferEncoding
}

/** Replaces libuv's TCP handle. */
export interface SocketHandle {
  /** Set by `net.Socket` and the HTTP server. False while the program does not read. */
  reading: boolean
  bytesRead: number
  bytesWritten: number
  readonly fd: number
  readStart(): number
  readStop(): number
  /** Returns 1: done synchronously. */
  shutdown(): number
  close(done: () => void): void
  getsockname(out: Partial<AddressInfo>): number
  getpeername(out: Partial<AddressInfo>): number
  setNoDelay(): number
  setKeepAlive(): number
  ref(): void
  unref(): void
}

interface SocketInternals extends Socket {
  /** Restarts the idle timeout. */
  _unrefTimer(): void
}

const Internal = Socket as unknown as new (options: object) => SocketInternals

export abstract class HandleSocket extends Internal {
  #response: ServerResponse | null = null

  /** A connection to `server`, with the options that the server sets for its connections. */
  constructor(server: Server, handle: SocketHandle) {
    const { allowHalfOpen, highWaterMark } = server as Server & { allowHalfOpen?: boolean; highWaterMark?: number }
    super({
      handle,
      allowHalfOpen,
      readable: true,
      writable: true,
      readableHighWaterMark: highWaterMark,
      writableHighWaterMark: highWaterMark,
    })
  }

  /** The response that currently uses the socket. */
  get response(): ServerResponse | null {
    return this.#response
  }

  /**
   * Called when the server has created `next`, before the program gets it, or has finished
   * `previous`.
   */
  protected abstract responseChanged(next: ServerResponse | null, previous: ServerResponse | null): void

  protected abstract send(chunk: string | Uint8Array, encoding: BufferEncoding): void

  /** Called after all pieces of one write. */
  protected abstract sent(done: Done): void

  get _httpMessage(): ServerResponse | null {
    return this.#response
  }

  set _httpMessage(message: ServerResponse | null) {
    const previous = this.#response
    this.#response = message
    this.responseChanged(message, previous)
  }

  /** `data` is a list of pieces if several writes were corked. */
  _writeGeneric(several: boolean, data: unknown, encoding: BufferEncoding, done: Done): void {
    this._unrefTimer()
    if (several) for (const piece of data as Piece[]) this.send(piece.chunk, piece.encoding)
    else this.send(data as string | Uint8Array, encoding)
    this.sent(done)
  }
}

/**
 * Undefined if a socket reads, writes and closes this way, and learns which response it carries.
 */
export function handleSocketFault(): unknown {
  const seen: string[] = []
  class Probe extends HandleSocket {
    protected override responseChanged(next: ServerResponse | null): void {
      seen.push(next === null ? 'free' : 'busy')
    }
    protected override send(chunk: string | Uint8Array): void {
      seen.push(String(chunk))
    }
    protected override sent(done: Done): void {
      done()
    }
  }
  try {
    const socket = new Probe(createServer(), probeHandle(seen))
    const response = new ServerResponse(new IncomingMessage(socket))
    socket.on('data', (chunk: Buffer) => seen.push(`read ${String(chunk)}`))
    response.assignSocket(socket)
    socket.write('written')
    socket.push('a')
    response.detachSocket(socket)
    seen.push(`from ${socket.remoteAddress}`)
    socket.destroy()
  } catch (error) {
    return error
  }
  const found = seen.filter((what) => what !== 'start').join(', ')
  return found === 'busy, written, read a, free, from 127.0.0.1, close'
    ? undefined
    : `a socket over a handle did ${found}`
}

function probeHandle(seen: string[]): SocketHandle {
  const address = { address: '127.0.0.1', family: 'IPv4', port: 1 }
  const done = (): number => 0
  return {
    reading: false,
    bytesRead: 0,
    bytesWritten: 0,
    fd: -1,
    readStart: () => (seen.push('start'), 0),
    readStop: done,
    shutdown: () => 1,
    close: (closed) => {
      seen.push('close')
      setImmediate(closed)
    },
    getsockname: (out) => (Object.assign(out, address), 0),
    getpeername: (out) => (Object.assign(out, address), 0),
    setNoDelay: done,
    setKeepAlive: done,
    ref: done,
    unref: done,
  }
}
