/** A power of two. */
const slots = 1024

/**
 * The calls in flight of one side, by their number. Numbers rise by one, so the slot of a number is mostly free; only a
 * call that outlives a thousand others is in the way of some of them, which go to the Map.
 *
 * A Map for all is slower than it looks: with ever new keys V8 makes a new table every few hundred calls, and each old one
 * keeps the calls that it had, and the next table, alive beyond the young generation. A third of the time went into
 * collecting them.
 */
export class Calls<T extends { readonly id: number }> implements Iterable<T> {
  readonly #slots: (T | undefined)[] = Array.from({ length: slots })
  readonly #others = new Map<number, T>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: number): T | undefined {
    const call = this.#slots[slotOf(id)]
    return call !== undefined && call.id === id ? call : this.#others.get(id)
  }

  add(call: T): void {
    const slot = slotOf(call.id)
    this.#size++
    if (this.#slots[slot] === undefined) this.#slots[slot] = call
    else this.#others.set(call.id, call)
  }

  /** False for one that is not there. */
  delete(call: T): boolean {
    const slot = slotOf(call.id)
    const isThere = this.#slots[slot] === call
    if (isThere) this.#slots[slot] = undefined
    else if (!this.#others.delete(call.id)) return false
    this.#size--
    return true
  }

  *[Symbol.iterator](): Generator<T, void> {
    for (const call of this.#slots) if (call !== undefined) yield call
    yield* this.#others.values()
  }
}

/** Of those that the other side opened the numbers are negative. */
function slotOf(id: number): number {
  return (id < 0 ? -id : id) & (slots - 1)
}
