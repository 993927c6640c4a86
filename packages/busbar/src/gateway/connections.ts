import type { Socket } from 'node:net'
import type { StopTimes } from '../shared/control.ts'
import { Connection } from './connection.ts'
import type { RequestContext } from './request-context.ts'

export interface ConnectionsParts {
  /** The connection is gone, with whatever was in flight on it. */
  readonly onClosed: (connection: Connection) => void
  /** Once per TCP connection, as the balancer counts them. */
  readonly onSocketClosed: () => void
}

/** Every connection that the gateway holds, from the handshake to the close. */
export class Connections {
  readonly #parts: ConnectionsParts
  /** Over TLS these have no {@link Connection} until the handshake is done, and are other objects than its sockets. */
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Map<Socket, Connection>()
  /** Over TLS: what has connected and has not come to HTTP yet, by who it is from. */
  readonly #handshakes = new Map<string, Socket>()
  #drain: (PromiseWithResolvers<void> & { readonly quiet: number }) | undefined

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sockets.size
  }

  get draining(): boolean {
    return this.#drain !== undefined
  }

  addSocket(socket: Socket, secure: boolean): void {
    this.#sockets.add(socket)
    const from = secure ? peerOf(socket) : ''
    if (secure) this.#handshakes.set(from, socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#handshakes.delete(from)
      this.#parts.onSocketClosed()
      this.settle()
    })
  }

  add(socket: Socket): Connection {
    const connection = new Connection(socket)
    this.#connections.set(socket, connection)
    if (this.#drain !== undefined) connection.leave(this.#drain.quiet)
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
   * Lets each connection end with an answer that says so, or when it is quiet. After `timeout` milliseconds `onExpired`
   * has the last word on each that is left. Resolves when only upgraded ones remain.
   *
   * `http.Server#close` is not used for this: it destroys a connection whose response has been handed over whole but is
   * still on its way out (Node 24.21; 13 of 50 MB arrived).
   */
  async drain({ timeout, quiet }: StopTimes, onExpired: (connection: Connection) => void): Promise<void> {
    this.#drain = { ...Promise.withResolvers<void>(), quiet: Math.min(quiet, timeout / 2) }
    for (const connection of this.#open()) connection.leave(this.#drain.quiet)
    const handshakes = setTimeout(() => this.#endHandshakes(), this.#drain.quiet)
    const limit = setTimeout(() => this.#expire(onExpired), timeout)
    this.settle()
    await this.#drain.promise
    clearTimeout(handshakes)
    clearTimeout(limit)
  }

  /** To be called when a connection has become an upgraded one. */
  settle(): void {
    const upgraded = this.#connections.size - this.#open().length
    if (this.#sockets.size === upgraded) this.#drain?.resolve()
  }

  cut(): void {
    for (const connection of this.#connections.values()) connection.cut()
    for (const socket of this.#sockets) socket.destroy()
  }

  #open(): readonly Connection[] {
    return [...this.#connections.values()].filter(({ state }) => state !== 'upgraded')
  }

  #endHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy()
  }

  /** What was said last goes out first. */
  #expire(onExpired: (connection: Connection) => void): void {
    for (const connection of this.#open()) onExpired(connection)
    setImmediate(() => {
      for (const connection of this.#open()) connection.cut()
      this.#drain?.resolve()
    })
  }
}

/** The same for a TLS socket and the TCP socket under it. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
