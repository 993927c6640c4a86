import type { Socket } from 'node:net'
import { threadsNow } from '../../shared/cells.ts'
import type { ListenerSpec } from '../../shared/control.ts'
import { hasDescriptors } from '../../shared/descriptors.ts'
import type { Port } from '../../shared/port.ts'
import { type Refusal, Refusals } from '../../shared/refusals.ts'
import type { WorkerHandle } from '../handle.ts'
import type { Timing } from '../timing.ts'
import { Backlog } from './backlog.ts'
import { pickWorker } from './balance.ts'
import { openOrExplain } from './reserve-ports.ts'

export interface AcceptorParts {
  /** The workers that take the connections of a port, those that serve at this moment. */
  readonly serving: (listener: string) => readonly WorkerHandle[]
  /** None of them serves, but a connection may wait for the replacement that is about to. */
  readonly isComing: (listener: string) => boolean
  readonly isTls: (listener: string) => boolean
  /** The most connections that all of its workers may have. */
  readonly mostAt: (listener: string) => number
  readonly timing: Timing
  readonly say: (level: 'warn' | 'error', line: string) => void
}

/** What became of a connection. `lost`: a worker that seems to serve did not take it, since it is about to end. */
type Outcome = 'taken' | 'full' | 'lost' | 'none'

/** When a connection is tried again that no worker took, in milliseconds; the end of one comes to be known before. */
const retryAfter = 50

const lines: Readonly<Record<Refusal, string>> = {
  down: 'no worker serves: connections are answered with 503',
  full: 'too few file descriptors are left: further connections are answered with 503; raise the limit (ulimit -n) if they are to be served',
}

/**
 * Owns the public ports and hands each connection to the worker with the fewest. The ports stay open whatever happens to
 * workers, and answer: a connection waits while a worker is replaced at once, else it gets a constant 503.
 */
export class Acceptor {
  readonly #parts: AcceptorParts
  readonly #ports = new Map<string, Port>()
  readonly #backlog: Backlog
  readonly #refusals = new Refusals()
  readonly #said = new Map<string, number>()
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: AcceptorParts) {
    this.#parts = parts
    this.#backlog = new Backlog(parts.timing.backlog, (listener, socket) => this.#refuse(listener, socket, 'down'))
  }

  /** The spec with its real port. */
  async open(spec: ListenerSpec, reusePort = false): Promise<ListenerSpec> {
    const port = await openOrExplain(
      spec,
      { reusePort, paused: true },
      {
        connection: (socket) => this.#accept(spec.id, socket),
        error: (error) => this.#sayError(error.message),
      },
    )
    this.#ports.set(spec.id, port)
    if (this.#closed) await this.close()
    return { ...spec, port: port.port }
  }

  /** Stops accepting at one port. */
  async shut(listener: string): Promise<void> {
    const port = this.#ports.get(listener)
    this.#ports.delete(listener)
    await port?.close()
  }

  /** A worker has begun to serve, or has ended. */
  review(): void {
    this.#backlog.review((listener, socket) => this.#settle(listener, socket))
  }

  /** One that was handed to a worker and came back. */
  again(listener: string, socket: Socket): void {
    if (this.#closed) socket.destroy()
    else this.#accept(listener, socket)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    this.#backlog.close()
    this.#refusals.close()
    await Promise.all([...this.#ports.keys()].map((listener) => this.shut(listener)))
  }

  #accept(listener: string, socket: Socket): void {
    if (!this.#settle(listener, socket)) this.#backlog.add(listener, socket)
  }

  /** False: it has to wait. */
  #settle(listener: string, socket: Socket): boolean {
    const outcome = this.#isFull(listener) ? 'full' : this.#give(listener, socket)
    if (outcome === 'lost') this.#retry ??= setTimeout(() => this.#tryAgain(), retryAfter)
    if (outcome === 'lost' || (outcome === 'none' && this.#parts.isComing(listener))) return false
    if (outcome !== 'taken') this.#refuse(listener, socket, outcome === 'full' ? 'full' : 'down')
    return true
  }

  #isFull(listener: string): boolean {
    const { mostAt, serving } = this.#parts
    const most = mostAt(listener)
    if (most !== Infinity && serving(listener).reduce((sum, { connections }) => sum + connections, 0) >= most)
      return true
    return !hasDescriptors()
  }

  #give(listener: string, socket: Socket): Outcome {
    let workers = this.#parts.serving(listener)
    let outcome: Outcome = 'none'
    for (;;) {
      const worker = pickWorker(workers, threadsNow(), this.#parts.timing.stale)
      if (worker === undefined) return outcome
      const handed = worker.take(listener, socket)
      if (handed === 'taken') return handed
      if (outcome !== 'lost') outcome = handed
      workers = workers.filter((other) => other !== worker)
    }
  }

  #tryAgain(): void {
    this.#retry = undefined
    this.review()
  }

  #refuse(listener: string, socket: Socket, why: Refusal): void {
    this.#refusals.refuse(socket, why, this.#parts.isTls(listener))
    this.#sayError(lines[why])
  }

  /** Each at most once a second: these come by the thousand. */
  #sayError(line: string): void {
    const now = threadsNow()
    if (now - (this.#said.get(line) ?? -Infinity) < 1000) return
    this.#said.set(line, now)
    this.#parts.say('error', line)
  }
}
