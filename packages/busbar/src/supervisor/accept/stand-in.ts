import type { ListenerSpec } from '../../shared/control.ts'
import type { Acceptor } from './accept.ts'

export interface StandInParts {
  readonly acceptor: Pick<Acceptor, 'open' | 'shut'>
  readonly listeners: () => readonly ListenerSpec[]
  readonly isServed: (listener: string) => boolean
  readonly say: (level: 'warn', line: string) => void
}

/** When a port is tried again that could not be opened, in milliseconds. */
const retryAfter = 1000

/**
 * Under `accept: 'reusePort'` a port is open only as long as a worker listens on it. While none does the supervisor listens
 * there: connections wait for a replacement or get their 503, as they do where it always listens.
 */
export class StandIn {
  readonly #parts: StandInParts
  /** Ports that are open here. */
  readonly #open = new Set<string>()
  #isStale = false
  #working: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: StandInParts) {
    this.#parts = parts
  }

  /** A worker has begun to serve, or has ended. */
  review(): void {
    this.#isStale = true
    this.#working ??= this.#work()
  }

  /** What is open closes with the acceptor. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#working
  }

  /** One step at a time: workers come and go while a port opens. */
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
      if (this.#open.delete(id)) await acceptor.shut(id)
    } else if (!this.#open.has(id)) await this.#stepIn(spec)
  }

  async #stepIn(spec: ListenerSpec): Promise<void> {
    try {
      await this.#parts.acceptor.open(spec, true)
      this.#open.add(spec.id)
    } catch (error) {
      this.#parts.say('warn', `no worker listens, and the supervisor cannot either: ${(error as Error).message}`)
      if (!this.#closed) this.#timer ??= setTimeout(() => this.#tryAgain(), retryAfter)
    }
  }

  #tryAgain(): void {
    this.#timer = undefined
    this.review()
  }
}
