/**
 * Work that calls of one turn of the event loop share. Starting them together costs one `setImmediate` instead of one
 * each, and the program's code runs hot over all of them.
 */
export class Turn<Item> {
  #waiting: Item[] = []
  #spare: Item[] = []
  readonly #schedule: (run: () => void) => void
  readonly #each: (item: Item) => void
  readonly #run = (): void => this.#runAll()

  /** `each` must not throw. */
  constructor(schedule: (run: () => void) => void, each: (item: Item) => void) {
    this.#schedule = schedule
    this.#each = each
  }

  add(item: Item): void {
    if (this.#waiting.push(item) === 1) this.#schedule(this.#run)
  }

  /** What is added meanwhile has its own turn. */
  #runAll(): void {
    const items = this.#waiting
    this.#waiting = this.#spare
    for (const item of items) this.#each(item)
    items.length = 0
    this.#spare = items
  }
}
