export interface QueueOptions<Item> {
  /** How many may wait; one more is refused at once. */
  readonly limit: number
  /** Hears of each that is not handed out since its time is up. */
  readonly expired: (item: Item) => void
}

export interface Urgency {
  /** The higher, the sooner; 0 without it. Within a priority first come, first served. */
  readonly priority?: number | undefined
  /** On the clock of `performance.now()`; without it, never too late. */
  readonly deadline?: number | undefined
}

/** One that waits. */
export interface Ticket<Item> {
  readonly item: Item
  readonly deadline: number
  readonly level: Level<Item>
}

/** All of one priority, in the order in which they came. */
interface Level<Item> {
  readonly priority: number
  readonly tickets: Set<Ticket<Item>>
}

/**
 * What waits for something that does one call at a time. It knows no clock and no thread: whoever has a free one asks for
 * the next, and whoever gives up takes its ticket out, at the same cost wherever that stands.
 *
 *     priority 5 │ ticket → ticket          the next is the first of the highest level
 *     priority 0 │ ticket → ticket → ticket
 */
export class CallQueue<Item> {
  readonly #limit: number
  readonly #expired: (item: Item) => void
  /** Highest first, none of them empty: there are few priorities, and mostly one. */
  readonly #levels: Level<Item>[] = []
  #size = 0

  constructor({ limit, expired }: QueueOptions<Item>) {
    this.#limit = limit
    this.#expired = expired
  }

  get size(): number {
    return this.#size
  }

  /** Undefined when the queue is full. */
  push(item: Item, { priority = 0, deadline = Infinity }: Urgency = {}): Ticket<Item> | undefined {
    if (this.#size >= this.#limit) return undefined
    const level = this.#levelOf(priority)
    const ticket = { item, deadline, level }
    level.tickets.add(ticket)
    this.#size++
    return ticket
  }

  /** Takes out the next. */
  shift(now: number = performance.now()): Item | undefined {
    const ticket = this.peek(now)
    if (ticket !== undefined) this.remove(ticket)
    return ticket?.item
  }

  /** The next whose time is not up at `now`. */
  peek(now: number = performance.now()): Ticket<Item> | undefined {
    for (;;) {
      const [ticket] = this.#levels[0]?.tickets ?? []
      if (ticket === undefined || ticket.deadline > now) return ticket
      this.remove(ticket)
      this.#expired(ticket.item)
    }
  }

  /** False when it waits no more. */
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
