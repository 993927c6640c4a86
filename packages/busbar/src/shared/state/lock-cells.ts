import { flag, holderOf, type Identity, nobody, slotOf } from './identity.ts'
import { type Threads, timestamp } from './threads.ts'

/**
 * Milliseconds that somebody may wait while others, who come later and happen to be running, take the lock before it.
 * Always giving it to the first in line costs a wake-up for each turn; never doing so starves (Go's `sync.Mutex` draws
 * the line at 1 ms).
 */
const patience = 2

/**
 * A lock between threads, held by a thread. It never blocks: whoever finds it taken waits at its own bell and tries again.
 *
 *     word │ identity of the holder, or 0 │ handed │ contended │
 *     want │ 0, or since when │ … one cell for each slot, written by its thread only
 *
 * Nobody can lose a wake-up: who waits says so first (`want`, `contended`) and looks at the word then; who releases
 * frees the word first and looks for those who want it then. Nobody can take the lock into its grave: a word whose
 * holder is not alive is as good as free. And where someone dies between two of these steps, all who wait look again
 * after a slice of time.
 */
export class LockCells {
  readonly #cells: Int32Array
  readonly #at: number
  readonly #threads: Threads
  readonly #me: Identity
  readonly #want: number

  constructor(cells: Int32Array, at: number, threads: Threads, me: Identity) {
    this.#cells = cells
    this.#at = at
    this.#threads = threads
    this.#me = me
    this.#want = this.#wantOf(slotOf(me))
    cells[this.#want] = 0
  }

  /** Takes it if it can be had; where its holder died with it, says `abandoned`. */
  take(): 'taken' | 'abandoned' | 'busy' {
    for (;;) {
      const word = Atomics.load(this.#cells, this.#at)
      const holder = holderOf(word)
      if (holder !== nobody && !this.#isLeft(word)) return 'busy'
      // Who has waited may have been one of many; who inherits cannot know.
      const isAlone = holder === nobody && this.#cells[this.#want] === 0
      const mine = isAlone ? this.#me : this.#me | flag.contended
      if (Atomics.compareExchange(this.#cells, this.#at, word, mine) !== word) continue
      return holder === nobody || (word & flag.handed) !== 0 ? 'taken' : 'abandoned'
    }
  }

  /** Says that this thread wants it. */
  want(): void {
    if (this.#cells[this.#want] === 0) Atomics.store(this.#cells, this.#want, timestamp())
  }

  /** It does not any more, or has it. What was handed to it meanwhile goes to the next. */
  unwant(): void {
    Atomics.store(this.#cells, this.#want, 0)
    const word = Atomics.load(this.#cells, this.#at)
    if (holderOf(word) === this.#me && (word & flag.handed) !== 0) this.#pass(word)
  }

  /** Makes the holder look for those who want it. False: it has changed hands, so try again. */
  contend(): boolean {
    const word = Atomics.load(this.#cells, this.#at)
    if (holderOf(word) === nobody || this.#isLeft(word)) return false
    if ((word & flag.contended) !== 0) return true
    return Atomics.compareExchange(this.#cells, this.#at, word, word | flag.contended) === word
  }

  /** Only by the thread that holds it. */
  release(): void {
    if (Atomics.compareExchange(this.#cells, this.#at, this.#me, nobody) === this.#me) return
    this.#pass(this.#me | flag.contended)
  }

  /** Whether another thread has waited so long that it must come next. Only by the holder. */
  get starves(): boolean {
    if ((Atomics.load(this.#cells, this.#at) & flag.contended) === 0) return false
    const next = this.#longestWaiting()
    return next !== undefined && next.who !== this.#me && next.since > patience
  }

  /** The word, to tell whether something has changed. */
  get word(): number {
    return Atomics.load(this.#cells, this.#at)
  }

  /** Asks whether the holder still runs. */
  probe(): void {
    const holder = holderOf(this.word)
    if (holder !== nobody && holder !== this.#me) this.#threads.probe(holder)
  }

  /** Takes back what was handed to a thread that is too busy to notice. */
  takeBack(word: number): boolean {
    if ((word & flag.handed) === 0) return false
    return Atomics.compareExchange(this.#cells, this.#at, word, this.#me | flag.contended) === word
  }

  /** Nobody stands behind that word: its holder is dead, or it was handed to us, or to one that has gone away since. */
  #isLeft(word: number): boolean {
    const holder = holderOf(word)
    if ((word & flag.handed) === 0) return !this.#threads.isAlive(holder)
    return (
      holder === this.#me ||
      !this.#threads.isAlive(holder) ||
      Atomics.load(this.#cells, this.#wantOf(slotOf(holder))) === 0
    )
  }

  /** To the one who starves, else to whoever is the fastest, having woken the one who waits longest. */
  #pass(word: number): void {
    const next = this.#longestWaiting()
    if (next !== undefined && next.since > patience) return this.#hand(word, next.who)
    if (Atomics.compareExchange(this.#cells, this.#at, word, nobody) === word) this.#wakeNext()
  }

  #hand(word: number, to: Identity): void {
    const handed = to | flag.handed | flag.contended
    if (Atomics.compareExchange(this.#cells, this.#at, word, handed) !== word) return
    this.#threads.ring(to)
    // It may have gone away before it could see that the lock is its own.
    if (Atomics.load(this.#cells, this.#wantOf(slotOf(to))) !== 0) return
    if (Atomics.compareExchange(this.#cells, this.#at, handed, nobody) === handed) this.#wakeNext()
  }

  #wakeNext(): void {
    const next = this.#longestWaiting()
    if (next !== undefined) this.#threads.ring(next.who)
  }

  #longestWaiting(): { who: Identity; since: number } | undefined {
    const now = timestamp()
    let found: { who: Identity; since: number } | undefined
    for (let slot = 0; slot < this.#threads.slots; slot++) {
      const want = Atomics.load(this.#cells, this.#wantOf(slot))
      if (want === 0 || this.#threads.isStale(slot, want)) continue
      const who = this.#threads.tenantOf(slot)
      const since = (now - want) | 0
      if (who !== nobody && (found === undefined || since > found.since)) found = { who, since }
    }
    return found
  }

  #wantOf(slot: number): number {
    return this.#at + 1 + slot
  }
}
