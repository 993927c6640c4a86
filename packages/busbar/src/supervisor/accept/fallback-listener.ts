import type { ListenerSpec } from '../../shared/control-messages.ts'
import type { Acceptor } from './acceptor.ts'

export interface FallbackListenerParts {
  readonly acceptor: Pick<Acceptor, 'open' | 'closePort'>
  readonly listeners: () => readonly ListenerSpec[]
  readonly isServed: (listenerId: string) => boolean
  readonly log: (level: 'warn', line: string) => void
}

/** Milliseconds until a port is retried that could not be opened. */
const retryDelay = 1000

/**
 * Under `accept: 'reusePort'` a port is open only while a worker listens on it. While none does,
 * the supervisor listens: connections wait for a replacement or get a 503, as on a port that the
 * supervisor owns.
 */
export class FallbackListener {
  readonly #parts: FallbackListenerParts
  /** The listeners that the supervisor has opened. */
  readonly #open = new Set<string>()
  #isStale = false
  #working: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: FallbackListenerParts) {
    this.#parts = parts
  }

  /** A worker has begun to serve or has ended. */
  review(): void {
    this.#isStale = true
    this.#working ??= this.#work()
  }

  /** Open ports close with the acceptor. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#working
  }

  /** One step at a time: workers start and end while a port opens. */
  async #work(): Promise<void> {
    while (this.#isStale && !this.#closed) {
      this.#isStale = false
      for (const spec of this.#parts.listeners()) await this.#adjust(spec)
    }
    this.#working = undefined
  }

  async #adjust(spec: ListenerSpec): Promise<void> {
    const { acceptor, isServed } = this.#parts
    const { id } = spec
    if (isServed(id)) {
      if (this.#open.delete(id)) await acceptor.closePort(id)
    } else if (!this.#open.has(id)) await this.#listen(spec)
  }

  async #listen(spec: ListenerSpec): Promise<void> {
    try {
      await this.#parts.acceptor.open(spec, true)
      this.#open.add(spec.id)
    } catch (error) {
      this.#parts.log('warn', `no worker listens, and the supervisor cannot listen either: ${(error as Error).message}`)
      if (!this.#closed) this.#timer ??= setTimeout(() => this.#retry(), retryDelay)
    }
  }

  #retry(): void {
    this.#timer = undefined
    this.review()
  }
}
