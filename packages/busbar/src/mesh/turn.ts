/** Work that shares a turn of the event loop: all that is added before `schedule` comes round is done together, in order. */
export class Turn<Item> {
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

  /** What is added meanwhile has its own turn. */
  run(): void {
    const items = this.#waiting
    this.#waiting = this.#spare
    for (const item of items) this.#each(item)
    items.length = 0
    this.#spare = items
  }
}
