/** What is told of the time since it was last active. */
interface Timed {
  checkIdle(now: number): void
}

/**
 * One timer for the timeouts of all connections, as accurate as Node's own keep-alive timeouts need
 * it.
 */
export class IdleClock {
  now = 0
  readonly #sockets = new Set<Timed>()
  #timer: NodeJS.Timeout | undefined

  add(socket: Timed): void {
    this.#sockets.add(socket)
    this.#timer ??= setInterval(() => this.#tick(), period).unref()
  }

  remove(socket: Timed): void {
    this.#sockets.delete(socket)
    if (this.#sockets.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    this.now += period
    for (const socket of this.#sockets) socket.checkIdle(this.now)
  }
}

const period = 250
