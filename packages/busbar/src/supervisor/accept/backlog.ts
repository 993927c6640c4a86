import type { Socket } from 'node:net'
import { backlogLimit } from '../timing.ts'

interface Waiting {
  readonly listener: string
  readonly socket: Socket
  readonly until: number
}

/** Connections that wait for a worker: the oldest first, bounded in number and time. */
export class Backlog {
  readonly #limit: number
  readonly #refuse: (listener: string, socket: Socket) => void
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /** `limit`: milliseconds that one may wait. `refuse` gets each that waited too long, or comes when too many wait. */
  constructor(limit: number, refuse: (listener: string, socket: Socket) => void) {
    this.#limit = limit
    this.#refuse = refuse
  }

  get size(): number {
    return this.#waiting.length
  }

  add(listener: string, socket: Socket): void {
    if (this.#waiting.length >= backlogLimit) return this.#refuse(listener, socket)
    this.#waiting.push({ listener, socket, until: performance.now() + this.#limit })
    this.#timer ??= setTimeout(() => this.#expire(), this.#limit)
  }

  /** `settle` is true for those that need not wait longer: one port's workers may serve while another's do not. */
  review(settle: (listener: string, socket: Socket) => boolean): void {
    if (this.#waiting.length === 0) return
    this.#keep(this.#waiting.filter(({ listener, socket }) => !settle(listener, socket)))
  }

  close(): void {
    for (const { socket } of this.#waiting) socket.destroy()
    this.#keep([])
  }

  #expire(): void {
    const now = performance.now()
    const young = this.#waiting.filter(({ until }) => until > now)
    const old = this.#waiting.slice(0, this.#waiting.length - young.length)
    for (const { listener, socket } of old) this.#refuse(listener, socket)
    this.#keep(young)
  }

  #keep(waiting: Waiting[]): void {
    this.#waiting = waiting
    clearTimeout(this.#timer)
    const [oldest] = waiting
    this.#timer = oldest && setTimeout(() => this.#expire(), Math.max(1, oldest.until - performance.now()))
  }
}
