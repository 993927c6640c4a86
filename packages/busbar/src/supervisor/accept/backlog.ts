import type { TcpHandle } from '../../shared/port.ts'
import { backlogLimit } from '../timing.ts'

interface Waiting {
  readonly listener: string
  readonly handle: TcpHandle
  readonly until: number
}

/** Connections that wait for a worker: the oldest first, bounded in number and time. */
export class Backlog {
  readonly #patience: number
  readonly #dropped: (count: number) => void
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /** `patience`: milliseconds that one may wait. `dropped` is told how many were closed unserved. */
  constructor(patience: number, dropped: (count: number) => void) {
    this.#patience = patience
    this.#dropped = dropped
  }

  add(listener: string, handle: TcpHandle): void {
    if (this.#waiting.length >= backlogLimit) {
      handle.close()
      return this.#dropped(1)
    }
    this.#waiting.push({ listener, handle, until: performance.now() + this.#patience })
    this.#timer ??= setTimeout(() => this.#expire(), this.#patience)
  }

  /** Gives away what is taken: one port's workers may serve while another's do not. */
  drain(give: (listener: string, handle: TcpHandle) => boolean): void {
    this.#keep(this.#waiting.filter(({ listener, handle }) => !give(listener, handle)))
  }

  close(): void {
    for (const { handle } of this.#waiting) handle.close()
    this.#keep([])
  }

  #expire(): void {
    const now = performance.now()
    const young = this.#waiting.filter(({ until }) => until > now)
    const old = this.#waiting.slice(0, this.#waiting.length - young.length)
    for (const { handle } of old) handle.close()
    this.#keep(young)
    if (old.length > 0) this.#dropped(old.length)
  }

  #keep(waiting: Waiting[]): void {
    this.#waiting = waiting
    clearTimeout(this.#timer)
    const [oldest] = waiting
    this.#timer = oldest && setTimeout(() => this.#expire(), Math.max(1, oldest.until - performance.now()))
  }
}
