import type { NatsConnection } from '../../shared/cluster/connection.ts'

/** Milliseconds between two signs of life: of each message, and of the server. */
export const signInterval = 3_000
/** Bytes that come over a network of `PacedPublisher`'s slowest kind in a second. */
const leastBehind = 64 * 1024
/** Milliseconds. A ping is sent every second. */
const leastLate = 3_000

/** A time (`performance.now()`) in which nothing came. */
interface Still {
  readonly from: number
  to: number
}

/**
 * The answer to a ping follows what the server sent before it. So pings show how long messages may
 * have been on their way.
 *
 * A slow network brings something again and again. A server or a network that stands still brings
 * nothing for most of the time. What comes when it goes on says nothing about the next messages.
 */
export class ServerPings {
  readonly #connection: NatsConnection
  readonly #bytesRead: () => number
  #confirmedAt = performance.now()
  /** Bytes that had come at the ping that was answered last. */
  #confirmed = 0
  #pingedAt = performance.now()
  /** Bytes that had come at the last ping. */
  #pinged = 0
  /** Between pings, since the one that was answered last. */
  #stills: Still[] = []
  /** When this process went on after a pause. */
  #resumedAt = -Infinity

  /** `bytesRead`: bytes that the connection has received. */
  constructor(connection: NatsConnection, bytesRead: () => number) {
    this.#connection = connection
    this.#bytesRead = bytesRead
  }

  /**
   * What is read now has left the server after this (`performance.now()`). A message may have
   * waited in the socket of a process that was stopped.
   */
  get confirmedAt(): number {
    return this.#confirmedAt
  }

  /**
   * Resolves when the server has all that was sent, to when that was. Rejects if the connection is
   * closed.
   */
  async confirm(): Promise<number> {
    const at = performance.now()
    const bytes = this.#bytesRead()
    if (bytes === this.#pinged) this.#wasStill({ from: this.#pingedAt, to: at })
    if (at - this.#pingedAt > 2 * signInterval) this.#resumedAt = at
    this.#pingedAt = at
    this.#pinged = bytes
    await this.#connection.flush()
    if (at > this.#confirmedAt) this.#confirmed = bytes
    this.#confirmedAt = Math.max(this.#confirmedAt, at)
    this.#stills = this.#stills.filter(({ to }) => to > this.#confirmedAt)
    return at
  }

  /** The server does not answer pings. It is not there, or large messages come first. */
  get isUnanswered(): boolean {
    return performance.now() - this.#confirmedAt > 2 * signInterval
  }

  /**
   * Whether a message that was sent after `sentAt` and is read now has come over a slow network. It
   * may also have waited for this process, or for its server.
   */
  isSlow(sentAt: number): boolean {
    const now = performance.now()
    const wasPaused = sentAt < this.#resumedAt || now - this.#pingedAt > 2 * signInterval
    if (wasPaused) return false
    const isMoving = this.#longestStill * 3 < now - this.#confirmedAt
    return isMoving && this.#bytesRead() - this.#confirmed > leastBehind
  }

  /**
   * Milliseconds for which what the server has sent has been on its way over a slow network.
   * Undefined: it is not known to be slow.
   */
  get lateness(): number | undefined {
    const age = performance.now() - this.#confirmedAt
    return age > leastLate && this.isSlow(this.#confirmedAt) ? age : undefined
  }

  #wasStill({ from, to }: Still): void {
    const last = this.#stills.at(-1)
    if (last?.to === from) last.to = to
    else this.#stills.push({ from, to })
  }

  /** Milliseconds, since the ping that was answered last. */
  get #longestStill(): number {
    return Math.max(0, ...this.#stills.map(({ from, to }) => to - Math.max(from, this.#confirmedAt)))
  }
}
