import type { Socket } from 'node:net'
import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { ListenerSpec } from '../../shared/control-messages.ts'
import { hasDescriptors } from '../../shared/process/descriptors.ts'
import type { Port } from '../../shared/listeners/open-port.ts'
import { type RefusalReason, RefusedConnections } from '../../shared/listeners/refused-connections.ts'
import { RefusalCounts, type RefusalCount } from '../../shared/metrics/refusals.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { Timing } from '../timing.ts'
import { Backlog } from './backlog.ts'
import { pickWorker } from './balance.ts'
import { openOrExplain } from './reserve-ports.ts'

export interface AcceptorParts {
  /** The workers that accept the connections of a port and serve at the moment. */
  readonly serving: (listenerId: string) => readonly WorkerHandle[]
  /** True if none of them serves but a replacement is starting: connections wait for it. */
  readonly isReplacing: (listenerId: string) => boolean
  readonly isTls: (listenerId: string) => boolean
  /** The most open connections of a port, over all workers. */
  readonly maxConnectionsAt: (listenerId: string) => number
  readonly timing: Timing
  readonly log: (level: 'warn' | 'error', line: string) => void
}

/** The result of a transfer. `lost`: the worker is about to end. `none`: no worker serves. */
type Outcome = 'taken' | 'full' | 'lost' | 'none'

/** Milliseconds until a lost transfer is retried. By then the worker's exit is usually known. */
const retryDelay = 50

const lines: Readonly<Record<RefusalReason, string>> = {
  down: 'no worker serves: connections get a 503',
  full: 'too few file descriptors are left: further connections get a 503; raise the limit (ulimit -n) to serve them',
}

/**
 * Accepts the connections of ports and transfers each to the worker with the fewest. The ports stay
 * open whatever happens to workers: if none serves, a connection waits if a replacement is
 * starting, else it gets a constant 503.
 */
export class Acceptor {
  readonly #parts: AcceptorParts
  readonly #ports = new Map<string, Port>()
  readonly #backlog: Backlog
  readonly #counts = new RefusalCounts()
  readonly #refusals = new RefusedConnections(this.#counts)
  readonly #lastLogged = new Map<string, number>()
  #retryTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: AcceptorParts) {
    this.#parts = parts
    this.#backlog = new Backlog(parts.timing.backlog, (listenerId, socket) => this.#refuse(listenerId, socket, 'down'))
  }

  /** Resolves to the spec with the real port. */
  async open(spec: ListenerSpec, reusePort = false): Promise<ListenerSpec> {
    const port = await openOrExplain(
      spec,
      { reusePort, paused: true },
      {
        connection: (socket) => this.#accept(spec.id, socket),
        error: (error) => this.#logError(error.message),
      },
    )
    this.#ports.set(spec.id, port)
    if (this.#closed) await this.close()
    return { ...spec, port: port.port }
  }

  /** Stops accepting on one port. */
  async closePort(listenerId: string): Promise<void> {
    const port = this.#ports.get(listenerId)
    this.#ports.delete(listenerId)
    await port?.close()
  }

  /** By reason, since the start. */
  get refusals(): readonly RefusalCount[] {
    return this.#counts.all
  }

  /** A worker has begun to serve or has ended. */
  review(): void {
    this.#backlog.review((listenerId, socket) => this.#settle(listenerId, socket))
  }

  /** A connection that was transferred to a worker and came back. */
  retry(listenerId: string, socket: Socket): void {
    if (this.#closed) socket.destroy()
    else this.#accept(listenerId, socket)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#backlog.close()
    this.#refusals.close()
    await Promise.all([...this.#ports.keys()].map((listenerId) => this.closePort(listenerId)))
  }

  #accept(listenerId: string, socket: Socket): void {
    if (!this.#settle(listenerId, socket)) this.#backlog.add(listenerId, socket)
  }

  /** False if the connection has to wait. */
  #settle(listenerId: string, socket: Socket): boolean {
    const outcome = this.#isFull(listenerId) ? 'full' : this.#transfer(listenerId, socket)
    if (outcome === 'lost') this.#retryTimer ??= setTimeout(() => this.#retryLost(), retryDelay)
    if (outcome === 'lost' || (outcome === 'none' && this.#parts.isReplacing(listenerId))) return false
    if (outcome !== 'taken') this.#refuse(listenerId, socket, outcome === 'full' ? 'full' : 'down')
    return true
  }

  #isFull(listenerId: string): boolean {
    const { maxConnectionsAt, serving } = this.#parts
    const most = maxConnectionsAt(listenerId)
    if (most !== Infinity && serving(listenerId).reduce((sum, { connections }) => sum + connections, 0) >= most)
      return true
    return !hasDescriptors()
  }

  #transfer(listenerId: string, socket: Socket): Outcome {
    let workers = this.#parts.serving(listenerId)
    let outcome: Outcome = 'none'
    for (;;) {
      const worker = pickWorker(workers, threadsNow(), this.#parts.timing.stale)
      if (worker === undefined) return outcome
      const result = worker.transfer(listenerId, socket)
      if (result === 'taken') return result
      if (outcome !== 'lost') outcome = result
      workers = workers.filter((other) => other !== worker)
    }
  }

  #retryLost(): void {
    this.#retryTimer = undefined
    this.review()
  }

  #refuse(listenerId: string, socket: Socket, why: RefusalReason): void {
    this.#refusals.refuse(socket, why, this.#parts.isTls(listenerId))
    this.#logError(lines[why])
  }

  /** Each line at most once a second: these errors come by the thousand. */
  #logError(line: string): void {
    const now = threadsNow()
    if (now - (this.#lastLogged.get(line) ?? -Infinity) < 1000) return
    this.#lastLogged.set(line, now)
    this.#parts.log('error', line)
  }
}
