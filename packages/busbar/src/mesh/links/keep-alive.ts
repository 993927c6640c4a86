export interface KeepAliveOptions {
  readonly sendPing: () => void
  /** True while the peer has calls to answer. */
  readonly isOwed: () => boolean
  /** Milliseconds without a packet after which the peer counts as gone. Default: never. */
  readonly timeout?: number | undefined
  readonly onTimeout: (timeout: number) => void
}

/** Intervals per timeout. */
const intervals = 30

/** Silent intervals after which a peer is pinged: while it has calls to answer, and otherwise. */
const untilPing = { owed: 2, idle: 20 } as const

/** Intervals without any packet after a ping until the peer counts as silent. */
const untilSilent = 2

/** Milliseconds until a peer that no longer answers its calls counts as silent, at most. */
export function silentAfter(timeout: number): number {
  return (timeout / intervals) * (untilPing.owed + untilSilent)
}

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
  /** Of these, with an unanswered ping. */
  #pingedIntervals = 0
  #isReceiving = false

  constructor(options: KeepAliveOptions) {
    const { timeout } = options
    this.#options = options
    if (timeout !== undefined) this.#timer = setInterval(() => this.#check(timeout), timeout / intervals).unref()
  }

  /** Not even a ping was answered: the peer may be gone, or its thread is blocked. */
  get isSilent(): boolean {
    return this.#pingedIntervals >= untilSilent
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
    this.#pingedIntervals = 0
  }

  /** A part of a packet has come. */
  onPart(): void {
    this.onPacket()
    this.#isReceiving = true
  }

  close(): void {
    clearInterval(this.#timer)
    for (const answered of this.#unanswered.splice(0)) answered()
  }

  #check(timeout: number): void {
    // The peer sends a large packet over a slow connection, and what it asks is behind that packet.
    if (this.#isReceiving) this.ping()
    this.#isReceiving = false
    this.#silentIntervals++
    if (this.#silentIntervals > intervals) return this.#options.onTimeout(timeout)
    if (this.#unanswered.length > 0) this.#pingedIntervals++
    else if (this.#silentIntervals >= (this.#options.isOwed() ? untilPing.owed : untilPing.idle)) this.ping()
  }
}
