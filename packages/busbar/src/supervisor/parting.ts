/** How workers part from one that leaves: each says so when what it has sent there has been read, or ends. */
export class Parting {
  readonly #callers: Set<number>
  readonly #over = Promise.withResolvers<void>()

  constructor(callers: Iterable<number>) {
    this.#callers = new Set(callers)
    this.#settle()
  }

  without(caller: number): void {
    this.#callers.delete(caller)
    this.#settle()
  }

  /** It has ended before. */
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
