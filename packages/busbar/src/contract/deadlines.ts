/** In a {@link Deadlines} list; the links are the list's. */
export interface Expiring {
  /** On the clock of `performance.now()`. */
  readonly deadline: number
  expire(): void
  previous: Expiring | undefined
  next: Expiring | undefined
  slot: number
}

/** Milliseconds by which a deadline may come late. */
const tick = 4
/** A power of two. What is due later than one turn of the wheel is met, and left, once per turn. */
const slots = 512

/**
 * All deadlines of a thread behind one timer, which runs only while there are any: a timer per call costs 0.4 µs, and
 * nearly all calls end before theirs. A wheel of slots, each a doubly linked list, so that joining and leaving it do not
 * depend on how many there are:
 *
 *     deadline ──▶ ceil(deadline / tick) mod slots ──▶ slot ⇄ entry ⇄ entry
 */
export class Deadlines {
  readonly #heads: (Expiring | undefined)[] = Array.from({ length: slots })
  #size = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #last = 0

  add(entry: Expiring): void {
    this.#size++
    if (this.#timer === undefined) this.#start()
    // What is due already waits for the next turn, and not for the wheel to come around.
    const slot = Math.max(Math.ceil(entry.deadline / tick), this.#last + 1) % slots
    const head = this.#heads[slot]
    entry.slot = slot
    entry.next = head
    if (head !== undefined) head.previous = entry
    this.#heads[slot] = entry
  }

  remove(entry: Expiring): void {
    const { previous, next } = entry
    if (previous !== undefined) previous.next = next
    else {
      // It was never in, or has left before.
      if (this.#heads[entry.slot] !== entry) return
      this.#heads[entry.slot] = next
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
    const from = Math.max(this.#last, current - slots) + 1
    for (let at = from; at <= current; at++) this.#expire(at % slots, now)
    this.#last = current
    // Only here: starting and stopping a timer with each call would cost more than all the rest.
    if (this.#size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #expire(slot: number, now: number): void {
    let entry = this.#heads[slot]
    const due: Expiring[] = []
    for (; entry !== undefined; entry = entry.next) if (entry.deadline <= now) due.push(entry)
    // Expiring one may end others.
    for (const one of due) {
      this.remove(one)
      one.expire()
    }
  }
}

export const deadlines = new Deadlines()
