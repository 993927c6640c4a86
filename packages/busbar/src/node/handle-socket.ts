/**
 * A `net.Socket` over a handle that is written in JavaScript (`lib/net.js`). Node's own code does all but read and write. Writing
 * does not pass the handle, since one reports through buffers that only C++ can reach: it is taken where all of it comes by.
 */
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, type Server, Socket } from 'node:net'

export type Done = (error?: Error | null) => void

interface Piece {
  readonly chunk: string | Uint8Array
  readonly encoding: BufferEncoding
}

/** What stands where libuv's TCP handle stands. */
export interface SocketHandle {
  /** Kept by `net.Socket` and the HTTP server: false while the program asks for no more. */
  reading: boolean
  bytesRead: number
  bytesWritten: number
  readonly fd: number
  readStart(): number
  readStop(): number
  /** 1 says that it was done at once. */
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
  /** Something happened: the idle timeout starts anew. */
  _unrefTimer(): void
}

const Internal = Socket as unknown as new (options: object) => SocketInternals

export abstract class HandleSocket extends Internal {
  #response: ServerResponse | null = null

  /** A connection to `server`, with what that says of its own. */
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

  /** What is being answered. */
  get response(): ServerResponse | null {
    return this.#response
  }

  /** The server has made `next` for the program, which gets it afterwards; or has finished with `previous`. */
  protected abstract responseChanged(next: ServerResponse | null, previous: ServerResponse | null): void

  protected abstract send(chunk: string | Uint8Array, encoding: BufferEncoding): void

  /** Behind all pieces of one write. */
  protected abstract sent(done: Done): void

  get _httpMessage(): ServerResponse | null {
    return this.#response
  }

  set _httpMessage(message: ServerResponse | null) {
    const previous = this.#response
    this.#response = message
    this.responseChanged(message, previous)
  }

  /** `data` is a list of pieces when several were corked together. */
  _writeGeneric(several: boolean, data: unknown, encoding: BufferEncoding, done: Done): void {
    this._unrefTimer()
    if (several) for (const piece of data as Piece[]) this.send(piece.chunk, piece.encoding)
    else this.send(data as string | Uint8Array, encoding)
    this.sent(done)
  }
}

/** Undefined where a socket reads, writes and closes so, and learns which response it carries. */
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
