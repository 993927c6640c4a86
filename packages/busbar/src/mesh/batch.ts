/**
 * Work that shares a turn of the event loop. All items added before `schedule` runs are processed
 * together, in order.
 */
export class TurnBatch<Item> {
  #waiting: Item[] = []
  #spare: Item[] = []
  readonly #schedule: (run: () => void) => void
  readonly #each: (item: Item) => void
  readonly #run = (): void => this.run()

  /** `each` must not throw. */
  constructor(schedule: (run: () => void) => void, each: (item: Item) => void) {
    this.#schedule = schedule
    this.#each = each
  }

  get size(): number {
    return this.#waiting.length
  }

  add(item: Item): void {
    if (this.#waiting.push(item) === 1) this.#schedule(this.#run)
  }

  /** Items added meanwhile belong to the next batch. */
  run(): void {
    const items = this.#waiting
    this.#waiting = this.#spare
    for (const item of items) this.#each(item)
    items.length = 0
    this.#spare = items
  }
}
