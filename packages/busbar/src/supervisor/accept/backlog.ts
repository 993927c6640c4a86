import type { TcpHandle } from '../../shared/port.ts'
import { backlogLimit } from '../timing.ts'

interface Waiting {
  readonly listener: string
  readonly handle: TcpHandle
  readonly until: number
}

/** Connections that wait for a worker: the oldest first, bounded in number and time. */
export class Backlog {
  readonly #limit: number
  readonly #refuse: (listener: string, handle: TcpHandle) => void
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /** `limit`: milliseconds that one may wait. `refuse` gets each that waited too long, or comes when too many wait. */
  constructor(limit: number, refuse: (listener: string, handle: TcpHandle) => void) {
    this.#limit = limit
    this.#refuse = refuse
  }

  get size(): number {
    return this.#waiting.length
  }

  add(listener: string, handle: TcpHandle): void {
    if (this.#waiting.length >= backlogLimit) return this.#refuse(listener, handle)
    this.#waiting.push({ listener, handle, until: performance.now() + this.#limit })
    this.#timer ??= setTimeout(() => this.#expire(), this.#limit)
  }

  /** `settle` is true for those that need not wait longer: one port's workers may serve while another's do not. */
  review(settle: (listener: string, handle: TcpHandle) => boolean): void {
    if (this.#waiting.length === 0) return
    this.#keep(this.#waiting.filter(({ listener, handle }) => !settle(listener, handle)))
  }

  close(): void {
    for (const { handle } of this.#waiting) handle.close()
    this.#keep([])
  }

  #expire(): void {
    const now = performance.now()
    const young = this.#waiting.filter(({ until }) => until > now)
    const old = this.#waiting.slice(0, this.#waiting.length - young.length)
    for (const { listener, handle } of old) this.#refuse(listener, handle)
    this.#keep(young)
  }

  #keep(waiting: Waiting[]): void {
    this.#waiting = waiting
    clearTimeout(this.#timer)
    const [oldest] = waiting
    this.#timer = oldest && setTimeout(() => this.#expire(), Math.max(1, oldest.until - performance.now()))
  }
}
