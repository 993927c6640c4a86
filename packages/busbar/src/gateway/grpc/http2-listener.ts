import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Limits } from '../../config/app.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import { Http2Carrier } from './http2-carrier.ts'

export interface Http2Parts {
  readonly limits: Limits
  readonly onStream: (carrier: Http2Carrier) => void
}

/**
 * Streams of one connection. More wait at the client. Node counts a stream that its client has
 * reset until the next turn. At the limit, it refuses a new one that comes with that reset:
 * `ENHANCE_YOUR_CALM`, which clients do not retry. No option makes Node accept more streams than
 * it advertises, so the limit is one that few clients reach.
 */
const maxConcurrentStreams = 1_024
/** Refusals of that kind in a row. A client may reset all its streams and open as many at once. */
const maxSessionRejectedStreams = maxConcurrentStreams
/**
 * Streams that a client may reset: at once, and per second (CVE-2023-44487). Clients reset each
 * call whose deadline passes, so Node's default of 33 per second ends the connections of clients
 * of an overloaded service.
 */
const streamResetBurst = 2_000
const streamResetRate = 1_000
/** Bytes that a stream may send before they are read. */
const streamWindow = 256 * 1024
const connectionWindow = 1024 * 1024
/** Fields of a head, as over HTTP/1.1. By itself Node refuses more than 128. */
const maxHeaderListPairs = 2_000
/** Megabytes that a connection may hold, in both directions. */
const maxSessionMemory = 64
/** A connection whose client does not answer a ping in this time is dead. In milliseconds. */
const pingInterval = 60_000
const pingTimeout = 20_000

/** HTTP/2 connections of the portable gateway, by `node:http2`. */
export class Http2Listener {
  readonly #sessions = new Map<ServerHttp2Session, Socket>()
  readonly #parts: Http2Parts
  readonly #options: ServerOptions
  #isStopping = false

  constructor(parts: Http2Parts) {
    this.#parts = parts
    this.#options = {
      maxHeaderListPairs,
      maxSessionMemory,
      maxSessionRejectedStreams,
      streamResetBurst,
      streamResetRate,
      settings: {
        maxConcurrentStreams,
        initialWindowSize: streamWindow,
        maxHeaderListSize: parts.limits.maxHeaderSize,
        enablePush: false,
      },
    }
  }

  /** The socket has not been read, or its first bytes were put back. */
  accept(socket: Socket): void {
    if (this.#isStopping) return void socket.destroy()
    const session = performServerHandshake(socket, this.#options)
    // Malformed frames end their connection; that shows in `close`.
    session.on('error', () => {})
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      // What is malformed behind its head may have destroyed it before this event, and its error
      // comes after it. Without a listener that would end the worker.
      stream.on('error', () => {})
      // A client may have reset it before this event.
      if (!stream.destroyed) this.#parts.onStream(new Http2Carrier(stream, headers, socket))
    })
    this.#add(session, socket)
    // Of a client that was killed, nothing follows but the end of its connection.
    socket.once('end', () => session.destroy())
  }

  /** Lets calls in flight end; the rest are cut off when the time is over. */
  async stop({ timeout }: StopTimes): Promise<void> {
    this.#isStopping = true
    const closed = [...this.#sessions.keys()].map(
      (session) => new Promise<void>((resolve) => (session.closed ? resolve() : session.once('close', resolve))),
    )
    for (const session of this.#sessions.keys()) session.close()
    const limit = setTimeout(() => this.destroy(), timeout)
    await Promise.all(closed)
    clearTimeout(limit)
  }

  destroy(): void {
    this.#isStopping = true
    for (const session of this.#sessions.keys()) session.destroy()
  }

  /**
   * The thread is about to end. Node reads on while it ends, and a request that comes then ends the
   * process: `Assertion failed: onread->IsFunction()` (24.21, 26.10).
   */
  abandon(): void {
    for (const socket of this.#sessions.values()) socket.destroy()
  }

  #add(session: ServerHttp2Session, socket: Socket): void {
    this.#sessions.set(session, socket)
    session.setLocalWindowSize(connectionWindow)
    // A client that has not sent its settings answers no ping. Their event may precede this.
    const { headerTimeout } = this.#parts.limits
    const began = setTimeout(() => ping(session, headerTimeout), headerTimeout)
    const alive = setInterval(() => ping(session, pingTimeout), pingInterval)
    session.once('close', () => {
      clearTimeout(began)
      clearInterval(alive)
      this.#sessions.delete(session)
    })
  }
}

/** Without pings, calls of a client that vanished without closing would never end. */
function ping(session: ServerHttp2Session, timeout: number): void {
  if (session.destroyed) return
  const alive = startRunningTimeout(timeout, () => session.destroy())
  const isSent = session.ping(alive)
  if (!isSent) alive()
  session.once('close', alive)
}
