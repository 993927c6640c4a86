/**
 * Waits until every caller of a draining worker has ended or has confirmed that it sends no more
 * calls.
 */
export class PeerDrain {
  readonly #callers: Set<number>
  readonly #over = Promise.withResolvers<void>()

  constructor(callers: Iterable<number>) {
    this.#callers = new Set(callers)
    this.#settle()
  }

  confirm(caller: number): void {
    this.#callers.delete(caller)
    this.#settle()
  }

  /** The worker has ended before all callers confirmed. */
  end(): void {
    this.#over.resolve()
  }

  /** Resolves after `limit` milliseconds at the latest. */
  async over(limit: number): Promise<void> {
    const timer = setTimeout(this.#over.resolve, limit)
    await this.#over.promise
    clearTimeout(timer)
  }

  #settle(): void {
    if (this.#callers.size === 0) this.end()
  }
}
