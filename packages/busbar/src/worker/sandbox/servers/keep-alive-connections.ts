import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeIfIdle } from '../../../mesh/http/exchange.ts'
import { makeLast } from '../../../mesh/http/last-response.ts'
import { shortTurn } from '../../../shared/time/short-turn.ts'
import type { StopTimes } from '../../../shared/time/stop-times.ts'
import type { ServedConnection, ServedConnections } from './served-connections.ts'

/** Milliseconds. Idle connections are polled, since Node has no event for them. */
const pollInterval = 25

/**
 * Milliseconds in which callers in this app close their idle connections, at most a quarter of the
 * stop. A caller whose thread is blocked does not.
 */
const maxCloseTime = 1000

/** Milliseconds between requests to the callers, which need a few turns of their event loops. */
const askInterval = 2

/** Servers without this method, such as `http2`, end their connections in `close()`. */
type HttpServer = Server & { closeIdleConnections?(): void }

export interface KeepAliveParts extends StopTimes {
  readonly servers: ReadonlySet<Server>
  /** All connections of the servers, from the network and from the mesh. */
  readonly connections: ServedConnections
}

/**
 * Drains the keep-alive connections of servers that stop. Closing a connection as soon as it is
 * idle would lose a request that is on its way, or one that has arrived but is not read yet: Node
 * counts the connection as idle and the client gets a reset. So each connection ends with a
 * response that says `connection: close`, or after a time without traffic.
 */
export class KeepAliveConnections {
  readonly #parts: KeepAliveParts
  /** Milliseconds; at most a quarter of the stop. */
  readonly #quiet: number
  readonly #closeTime: number
  /** Milliseconds that a look at the connections may wait for a short turn. */
  readonly #longestTurn: number
  /** When callers were first asked to close. */
  #askedAt: number | undefined
  /** For connections that wait for a request: their byte count, and when it last changed. */
  readonly #seen = new WeakMap<ServedConnection, { readonly bytes: number; readonly since: number }>()

  constructor(parts: KeepAliveParts) {
    this.#parts = parts
    this.#quiet = Math.min(parts.quiet, parts.timeout / 4)
    this.#closeTime = Math.min(maxCloseTime, parts.timeout / 4)
    this.#longestTurn = Math.min(maxCloseTime, parts.timeout / 8)
  }

  /**
   * Makes every response from now on end its connection. Resolves when all connections that wait
   * for a request are quiet, at the latest after half of `timeout`, and when callers in this app
   * have closed theirs: the program's own `close()` would lose a request that is on its way. For
   * responses that keep their connections open, it waits no longer than twice `quiet`.
   */
  async drain(): Promise<void> {
    for (const connection of this.#parts.connections.reusable()) connection.endWithResponse()
    for (const server of this.#parts.servers)
      server.prependListener('request', (_request: unknown, response: ServerResponse) => makeLast(response))
    const began = performance.now()
    const hasTaken = (time: number): boolean => performance.now() - began >= time
    const isSettled = async (): Promise<boolean> =>
      (await this.#isQuiet()) && (!this.#someStayOpen() || hasTaken(2 * this.#quiet))
    while (!(await isSettled()) && !hasTaken(this.#parts.timeout / 2)) await sleep(pollInterval)
    while (this.#callersClose()) await sleep(askInterval)
    await shortTurn(this.#longestTurn)
  }

  /** Closes idle connections whenever all of them are quiet, until `signal` aborts. */
  async closeWhenIdle(signal: AbortSignal, enter: (close: () => void) => void): Promise<void> {
    while (!signal.aborted) {
      if (await this.#isQuiet()) enter(() => this.#closeIdle())
      await sleep(pollInterval, undefined, { signal }).catch(() => {})
    }
  }

  /** What has arrived and is not read yet may be a request. */
  async #isQuiet(): Promise<boolean> {
    await shortTurn(this.#longestTurn)
    const now = performance.now()
    let isQuiet = true
    for (const one of this.#parts.connections.reusable()) if (!this.#isQuietConnection(one, now)) isQuiet = false
    return isQuiet
  }

  #someStayOpen(): boolean {
    for (const { staysOpen } of this.#parts.connections.reusable()) if (staysOpen) return true
    return false
  }

  #isQuietConnection(connection: ServedConnection, now: number): boolean {
    if (!connection.waitsForRequest) return true
    const bytes = connection.socket.bytesRead + connection.socket.bytesWritten
    const seen = this.#seen.get(connection)
    if (seen?.bytes === bytes) return now - seen.since >= this.#quiet
    this.#seen.set(connection, { bytes, since: now })
    return this.#quiet === 0
  }

  /**
   * Node counts a connection that has sent nothing yet as busy, so those are destroyed here, and
   * those whose callers did not close them.
   */
  #closeIdle(): void {
    if (this.#callersClose()) return
    for (const server of this.#parts.servers as ReadonlySet<HttpServer>) server.closeIdleConnections?.()
    for (const { socket, waitsForRequest } of this.#parts.connections.reusable())
      if (socket.bytesRead === 0 || (waitsForRequest && isClosable(socket))) socket.destroy()
  }

  /**
   * Asks callers to close their quiet connections. Returns true while some may still do so. A
   * caller may forward the connection of a client outside, whose next request is on its way to it.
   */
  #callersClose(): boolean {
    const now = performance.now()
    this.#askedAt ??= now
    if (now - this.#askedAt > this.#closeTime) return false
    let areWaiting = false
    for (const connection of this.#parts.connections.reusable()) {
      const { socket, waitsForRequest } = connection
      if (!waitsForRequest || !isClosable(socket)) continue
      areWaiting = true
      if (this.#isQuietConnection(connection, now)) socket[closeIfIdle]()
    }
    return areWaiting
  }
}

function isClosable(socket: Socket): socket is Socket & { [closeIfIdle](): void } {
  return closeIfIdle in socket
}
