import type { Socket } from 'node:net'
import { backlogLimit } from '../timing.ts'

interface Waiting {
  readonly listenerId: string
  readonly socket: Socket
  readonly until: number
}

/** Connections that wait for a worker, oldest first, bounded in number and time. */
export class Backlog {
  readonly #limit: number
  readonly #refuse: (listenerId: string, socket: Socket) => void
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * `limit`: milliseconds that a connection may wait. `refuse` receives those that wait longer, or
   * are too many.
   */
  constructor(limit: number, refuse: (listenerId: string, socket: Socket) => void) {
    this.#limit = limit
    this.#refuse = refuse
  }

  get size(): number {
    return this.#waiting.length
  }

  add(listenerId: string, socket: Socket): void {
    if (this.#waiting.length >= backlogLimit) return this.#refuse(listenerId, socket)
    this.#waiting.push({ listenerId, socket, until: performance.now() + this.#limit })
    this.#timer ??= setTimeout(() => this.#expire(), this.#limit)
  }

  /**
   * `settle` returns true for a connection that need not wait any longer. Each port has workers of
   * its own.
   */
  review(settle: (listenerId: string, socket: Socket) => boolean): void {
    if (this.#waiting.length === 0) return
    this.#keep(this.#waiting.filter(({ listenerId, socket }) => !settle(listenerId, socket)))
  }

  close(): void {
    for (const { socket } of this.#waiting) socket.destroy()
    this.#keep([])
  }

  #expire(): void {
    const now = performance.now()
    const young = this.#waiting.filter(({ until }) => until > now)
    const old = this.#waiting.slice(0, this.#waiting.length - young.length)
    for (const { listenerId, socket } of old) this.#refuse(listenerId, socket)
    this.#keep(young)
  }

  #keep(waiting: Waiting[]): void {
    this.#waiting = waiting
    clearTimeout(this.#timer)
    const [oldest] = waiting
    this.#timer = oldest && setTimeout(() => this.#expire(), Math.max(1, oldest.until - performance.now()))
  }
}
