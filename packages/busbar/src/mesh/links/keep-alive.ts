export interface KeepAliveOptions {
  readonly sendPing: () => void
  /** Milliseconds without a packet after which the peer counts as gone. Default: never. */
  readonly timeout?: number | undefined
  readonly onTimeout: (timeout: number) => void
}

/** Intervals per timeout. A peer that is silent for more than one is pinged. */
const intervals = 3

/**
 * Pings over one link. Frames keep their order, so a pong means that the peer has read all that was
 * sent before the ping.
 *
 * With a timeout it also detects half-open connections, which look open for hours. Intervals of a
 * timer are counted rather than time, because none pass while this thread itself is stopped.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions
  readonly #timer: NodeJS.Timeout | undefined
  /** Pongs arrive in the order of the pings. */
  readonly #unanswered: (() => void)[] = []
  #silentIntervals = 0

  constructor(options: KeepAliveOptions) {
    const { timeout } = options
    this.#options = options
    if (timeout !== undefined) this.#timer = setInterval(() => this.#check(timeout), timeout / intervals).unref()
  }

  /** `answered` is called on the pong, or when the link closes. */
  ping(answered: () => void = () => {}): void {
    this.#unanswered.push(answered)
    this.#options.sendPing()
  }

  onPong(): void {
    this.#unanswered.shift()?.()
  }

  onPacket(): void {
    this.#silentIntervals = 0
  }

  close(): void {
    clearInterval(this.#timer)
    for (const answered of this.#unanswered.splice(0)) answered()
  }

  #check(timeout: number): void {
    this.#silentIntervals++
    if (this.#silentIntervals > intervals) this.#options.onTimeout(timeout)
    else if (this.#silentIntervals > 1) this.ping()
  }
}
