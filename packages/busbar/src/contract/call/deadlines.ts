/** An entry of {@link Deadlines}, which owns the links. */
export interface Expiring {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number
  expire(): void
  previous: Expiring | undefined
  next: Expiring | undefined
  bucket: number
}

/** How many milliseconds late a deadline may fire. */
const tick = 4
/**
 * A power of two. Entries that are due later than one turn of the wheel are skipped once per turn.
 */
const buckets = 512

/**
 * All deadlines of a thread, driven by one timer that runs only while there are any. A timer per
 * call costs 0.4 µs, and nearly all calls end before their deadline. A timer wheel with a doubly
 * linked list per bucket, so adding and removing take constant time:
 *
 *     deadline ──▶ ceil(deadline / tick) mod buckets ──▶ bucket ⇄ entry ⇄ entry
 */
export class Deadlines {
  readonly #heads: (Expiring | undefined)[] = Array.from({ length: buckets })
  #size = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #last = 0

  add(entry: Expiring): void {
    this.#size++
    if (this.#timer === undefined) this.#start()
    // An entry that is already due goes into the next bucket, not into one that the wheel has
    // passed.
    const bucket = Math.max(Math.ceil(entry.deadline / tick), this.#last + 1) % buckets
    const head = this.#heads[bucket]
    entry.bucket = bucket
    entry.next = head
    if (head !== undefined) head.previous = entry
    this.#heads[bucket] = entry
  }

  remove(entry: Expiring): void {
    const { previous, next } = entry
    if (previous !== undefined) previous.next = next
    else {
      // It was never added, or was removed before.
      if (this.#heads[entry.bucket] !== entry) return
      this.#heads[entry.bucket] = next
    }
    if (next !== undefined) next.previous = previous
    entry.previous = entry.next = undefined
    this.#size--
  }

  #start(): void {
    this.#last = Math.floor(performance.now() / tick)
    this.#timer = setInterval(() => this.#turn(), tick)
  }

  #turn(): void {
    const now = performance.now()
    const current = Math.floor(now / tick)
    const from = Math.max(this.#last, current - buckets) + 1
    for (let at = from; at <= current; at++) this.#expire(at % buckets, now)
    this.#last = current
    // The timer stops only here: starting and stopping it with each call would cost more than
    // everything else.
    if (this.#size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #expire(bucket: number, now: number): void {
    let entry = this.#heads[bucket]
    const due: Expiring[] = []
    for (; entry !== undefined; entry = entry.next) if (entry.deadline <= now) due.push(entry)
    // Collected first: expiring one entry may remove others.
    for (const one of due) {
      this.remove(one)
      one.expire()
    }
  }
}

export const deadlines = new Deadlines()
