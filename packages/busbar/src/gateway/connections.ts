import type { Socket } from 'node:net'
import type { IdleTimes } from '../shared/time/short-turn.ts'
import type { StopTimes } from '../shared/time/stop-times.ts'
import { Connection } from './connection.ts'
import type { OwnResponses } from './problems/own-responses.ts'
import type { RequestContext } from './request-context.ts'

export interface ConnectionsParts {
  readonly responses: OwnResponses
  /** The connection has closed, with the requests in flight on it. */
  readonly onClosed: (connection: Connection) => void
  /** Called once per TCP connection, as the balancer counts them. */
  readonly onSocketClosed: () => void
}

/** The open connections of the gateway, from the handshake to the close. */
export class Connections {
  readonly #parts: ConnectionsParts
  /**
   * TCP sockets. Over TLS, a socket has no {@link Connection} until the handshake is complete. The
   * connection then has the TLS socket instead.
   */
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Map<Socket, Connection>()
  /** TCP sockets in the TLS handshake, by the client's address and port. */
  readonly #handshakes = new Map<string, Socket>()
  #drain: (PromiseWithResolvers<void> & IdleTimes) | undefined

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sockets.size
  }

  /** The next response ends the connection. */
  ends(connection: Connection): boolean {
    return this.#drain !== undefined || connection.leaves
  }

  /** Every other connection ends with its next response. */
  share(): void {
    for (const [at, connection] of this.#open().entries()) if (at % 2 === 0) connection.leave()
  }

  addSocket(socket: Socket, secure: boolean): void {
    this.#sockets.add(socket)
    const from = secure ? peerOf(socket) : ''
    if (secure) this.#handshakes.set(from, socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#handshakes.delete(from)
      this.#parts.onSocketClosed()
      this.checkDrained()
    })
  }

  /** A connection of HTTP/2: from here on, its listener ends it. */
  addHttp2(socket: Socket): void {
    if (this.#handshakes.size > 0) this.#handshakes.delete(peerOf(socket))
  }

  add(socket: Socket): Connection {
    const connection = new Connection(socket, this.#parts.responses)
    this.#connections.set(socket, connection)
    if (this.#drain !== undefined) connection.drain(this.#drain)
    if (this.#handshakes.size > 0) this.#handshakes.delete(peerOf(socket))
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#parts.onClosed(connection)
    })
    return connection
  }

  /** Every request in flight. */
  *requests(): Generator<RequestContext, void, undefined> {
    for (const connection of this.#connections.values()) yield* connection.requests
  }

  of(socket: Socket): Connection | undefined {
    return this.#connections.get(socket)
  }

  /**
   * Ends each connection with a response that says so, or when it is idle. After `timeout`
   * milliseconds, `onExpired` may send a last response on each connection that has a request in
   * flight. Connections that are left are destroyed then. Resolves when only upgraded connections
   * remain.
   *
   * `http.Server#close` is not used: it destroys a connection whose response is complete but still
   * being sent (Node 24.21; 13 of 50 MB arrived).
   */
  async drain({ timeout, quiet }: StopTimes, onExpired: (connection: Connection) => void): Promise<void> {
    const drain = { ...Promise.withResolvers<void>(), idle: Math.min(quiet, timeout / 2), turn: timeout / 4 }
    this.#drain = drain
    for (const connection of this.#open()) connection.drain(drain)
    const handshakes = setTimeout(() => this.#endHandshakes(), drain.idle)
    const limit = setTimeout(() => this.#expire(onExpired), timeout)
    this.checkDrained()
    await drain.promise
    clearTimeout(handshakes)
    clearTimeout(limit)
  }

  /** To be called when a connection has been upgraded. */
  checkDrained(): void {
    const upgraded = this.#connections.size - this.#open().length
    if (this.#sockets.size === upgraded) this.#drain?.resolve()
  }

  destroy(): void {
    for (const connection of this.#connections.values()) connection.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  #open(): readonly Connection[] {
    return [...this.#connections.values()].filter(({ state }) => state !== 'upgraded')
  }

  #endHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy()
  }

  /** Lets the last responses out before the connections are destroyed. */
  #expire(onExpired: (connection: Connection) => void): void {
    for (const connection of this.#open()) if (connection.inFlight > 0) onExpired(connection)
    setImmediate(() => {
      for (const connection of this.#open()) connection.destroy()
      this.#drain?.resolve()
    })
  }
}

/** The same for a TLS socket and the TCP socket under it. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
