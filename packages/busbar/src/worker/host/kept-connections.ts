import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopTimes } from '../../shared/control.ts'
import type { ServedConnection, ServedConnections } from './served-connections.ts'

/** A connection turns idle when its answer is out: looked for this often, since Node says so to nobody. Milliseconds. */
const lookInterval = 25

/** One without ends its connections in `close()`, as `http2` does. */
type HttpServer = Server & { closeIdleConnections?(): void }

export interface KeptParts extends StopTimes {
  readonly servers: ReadonlySet<Server>
  /** All that the servers have, of the network and of the mesh. */
  readonly connections: ServedConnections
}

/**
 * The connections that clients keep to servers that are to stop. Closed as soon as it is idle, a connection loses the request
 * that is on its way on it, and the one that has arrived and is not read yet: Node takes it for idle, and the client gets a
 * reset. So each ends with an answer that says so, or after a silence.
 */
export class KeptConnections {
  readonly #parts: KeptParts
  /** Of a short stop no more than a part. */
  readonly #quiet: number
  /** Of those that wait for a request: how many bytes had come and gone when that was last seen to change, and when. */
  readonly #seen = new WeakMap<ServedConnection, { readonly bytes: number; readonly since: number }>()

  constructor(parts: KeptParts) {
    this.#parts = parts
    this.#quiet = Math.min(parts.quiet, parts.timeout / 4)
  }

  /**
   * From now on every answer says that its connection ends. Resolves when none is left that a request may be on its way
   * on, at the latest after twice the time of silence, or half of that for the stop.
   */
  async drain(): Promise<void> {
    for (const server of this.#parts.servers)
      server.prependListener('request', (_request: unknown, response: { shouldKeepAlive: boolean }) => {
        response.shouldKeepAlive = false
      })
    const end = performance.now() + 2 * this.#quiet
    while (!(await this.#isQuiet()) && performance.now() < end) await sleep(lookInterval)
  }

  /** Closes idle connections whenever all of them are quiet, until `signal` says that it is enough. */
  async closeWhenIdle(signal: AbortSignal, enter: (close: () => void) => void): Promise<void> {
    while (!signal.aborted) {
      if (await this.#isQuiet()) enter(() => this.#closeIdle())
      await sleep(lookInterval, undefined, { signal }).catch(() => {})
    }
  }

  /** Only after the loop has read what waits: where it was late, that may be a request. */
  async #isQuiet(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve))
    const now = performance.now()
    let isQuiet = true
    for (const one of this.#parts.connections.kept()) if (!this.#isSilent(one, now)) isQuiet = false
    return isQuiet
  }

  #isSilent(connection: ServedConnection, now: number): boolean {
    if (!connection.waitsForRequest) return true
    const bytes = connection.socket.bytesRead + connection.socket.bytesWritten
    const seen = this.#seen.get(connection)
    if (seen?.bytes === bytes) return now - seen.since >= this.#quiet
    this.#seen.set(connection, { bytes, since: now })
    return this.#quiet === 0
  }

  /** Node takes a connection that has sent nothing yet for a busy one. */
  #closeIdle(): void {
    for (const server of this.#parts.servers as ReadonlySet<HttpServer>) server.closeIdleConnections?.()
    for (const { socket } of this.#parts.connections.kept()) if (socket.bytesRead === 0) socket.destroy()
  }
}
