/** A power of two. */
const slots = 1024

/**
 * The in-flight calls of one side, by number. Numbers rise by one, so the slot of a new number is
 * usually free. A call that outlives a thousand others occupies a slot that a later one needs;
 * those go to the Map.
 *
 * A Map for all calls is slower. With ever new keys V8 allocates a new table every few hundred
 * calls. Each old table keeps its calls and the next table alive beyond the young generation:
 * collecting them took a third of the time.
 */
export class CallTable<T extends { readonly id: number }> implements Iterable<T> {
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

  /** False if it is not in the table. */
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

/** Numbers of the peer's calls are negative. */
function slotOf(id: number): number {
  return (id < 0 ? -id : id) & (slots - 1)
}
