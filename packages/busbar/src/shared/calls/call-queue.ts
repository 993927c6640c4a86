export interface QueueOptions<Item> {
  /** Maximum length; one more is refused. */
  readonly limit: number
  /** Called for each item that is dropped because its deadline has passed. */
  readonly expired: (item: Item) => void
}

export interface Urgency {
  /** Higher goes first; first come, first served within a priority. Default: 0. */
  readonly priority?: number | undefined
  /** In milliseconds of `performance.now()`. Default: none. */
  readonly deadline?: number | undefined
}

/** A queued item. */
export interface Ticket<Item> {
  readonly item: Item
  readonly deadline: number
  readonly level: Level<Item>
}

/** All items of one priority, in order of arrival. */
interface Level<Item> {
  readonly priority: number
  readonly tickets: Set<Ticket<Item>>
}

/**
 * A priority queue of calls with deadlines. It knows neither timers nor threads: a free worker
 * takes the next item, and a caller that cancels removes its ticket. Both take constant time.
 *
 *     priority 5 │ ticket → ticket          next: the first of the highest level
 *     priority 0 │ ticket → ticket → ticket
 */
export class CallQueue<Item> {
  readonly #limit: number
  readonly #expired: (item: Item) => void
  /**
   * Highest priority first; never contains an empty level. There are few priorities, usually one.
   */
  readonly #levels: Level<Item>[] = []
  #size = 0

  constructor({ limit, expired }: QueueOptions<Item>) {
    this.#limit = limit
    this.#expired = expired
  }

  get size(): number {
    return this.#size
  }

  /** Undefined if the queue is full. */
  push(item: Item, { priority = 0, deadline = Infinity }: Urgency = {}): Ticket<Item> | undefined {
    if (this.#size >= this.#limit) return undefined
    const level = this.#levelOf(priority)
    const ticket = { item, deadline, level }
    level.tickets.add(ticket)
    this.#size++
    return ticket
  }

  /** Removes and returns the next item. */
  shift(now: number = performance.now()): Item | undefined {
    const ticket = this.peek(now)
    if (ticket !== undefined) this.remove(ticket)
    return ticket?.item
  }

  /** The next item whose deadline has not passed at `now`. */
  peek(now: number = performance.now()): Ticket<Item> | undefined {
    for (;;) {
      const [ticket] = this.#levels[0]?.tickets ?? []
      if (ticket === undefined || ticket.deadline > now) return ticket
      this.remove(ticket)
      this.#expired(ticket.item)
    }
  }

  /** False if it is no longer queued. */
  remove(ticket: Ticket<Item>): boolean {
    const { level } = ticket
    if (!level.tickets.delete(ticket)) return false
    this.#size--
    if (level.tickets.size === 0) this.#levels.splice(this.#levels.indexOf(level), 1)
    return true
  }

  #levelOf(priority: number): Level<Item> {
    const at = this.#levels.findIndex((level) => level.priority <= priority)
    const found = this.#levels[at]
    if (found?.priority === priority) return found
    const level = { priority, tickets: new Set<Ticket<Item>>() }
    this.#levels.splice(at === -1 ? this.#levels.length : at, 0, level)
    return level
  }
}
