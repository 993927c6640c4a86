import { flag, holderOf, type ThreadIdentity, nobody, slotOf } from './thread-identity.ts'
import { type ThreadTable, timestamp } from './thread-table.ts'

/**
 * Milliseconds that a waiting thread may be overtaken by threads that are running. Strict ordering
 * would cost a wake-up per turn; no ordering would starve waiters (Go's `sync.Mutex` switches at
 * 1 ms).
 */
const fairnessLimit = 2

/**
 * The cells of a lock between threads. It never blocks: a thread that finds it taken waits for a
 * wake-up and tries again.
 *
 *     word │ identity of the holder, or 0 │ handed │ contended │
 *     want │ 0, or since when │ … one cell for each slot, written by its thread only
 *
 * No wake-up is lost: a waiting thread announces itself first (`want`, `contended`) and then checks
 * the word; a releasing thread frees the word first and then looks for waiting threads. No lock is
 * lost either: a word whose holder has ended counts as free. If a thread ends between two of these
 * steps, all waiting threads check again after some milliseconds.
 */
export class LockCells {
  readonly #cells: Int32Array
  readonly #at: number
  readonly #threads: ThreadTable
  readonly #me: ThreadIdentity
  readonly #want: number

  constructor(cells: Int32Array, at: number, threads: ThreadTable, me: ThreadIdentity) {
    this.#cells = cells
    this.#at = at
    this.#threads = threads
    this.#me = me
    this.#want = this.#wantOf(slotOf(me))
    cells[this.#want] = 0
  }

  /** Takes the lock if possible; `abandoned` if its holder ended without releasing it. */
  take(): 'taken' | 'abandoned' | 'busy' {
    for (;;) {
      const word = Atomics.load(this.#cells, this.#at)
      const holder = holderOf(word)
      if (holder !== nobody && !this.#hasNoOwner(word)) return 'busy'
      // Other threads may be waiting, too; one that takes over a dead holder's lock cannot know.
      const isAlone = holder === nobody && this.#cells[this.#want] === 0
      const mine = isAlone ? this.#me : this.#me | flag.contended
      if (Atomics.compareExchange(this.#cells, this.#at, word, mine) !== word) continue
      return holder === nobody || (word & flag.handed) !== 0 ? 'taken' : 'abandoned'
    }
  }

  /** Announces that this thread wants the lock. */
  want(): void {
    if (this.#cells[this.#want] === 0) Atomics.store(this.#cells, this.#want, timestamp())
  }

  /** Withdraws that. A lock that was handed to this thread meanwhile goes to the next. */
  unwant(): void {
    Atomics.store(this.#cells, this.#want, 0)
    const word = Atomics.load(this.#cells, this.#at)
    if (holderOf(word) === this.#me && (word & flag.handed) !== 0) this.#pass(word)
  }

  /**
   * Makes the holder look for waiting threads. False if the lock has changed hands, so try again.
   */
  contend(): boolean {
    const word = Atomics.load(this.#cells, this.#at)
    if (holderOf(word) === nobody || this.#hasNoOwner(word)) return false
    if ((word & flag.contended) !== 0) return true
    return Atomics.compareExchange(this.#cells, this.#at, word, word | flag.contended) === word
  }

  /** Only for the holding thread. */
  release(): void {
    if (Atomics.compareExchange(this.#cells, this.#at, this.#me, nobody) === this.#me) return
    this.#pass(this.#me | flag.contended)
  }

  /**
   * Whether another thread has waited so long that it must be next. Only for the holding thread.
   */
  get mustYield(): boolean {
    if ((Atomics.load(this.#cells, this.#at) & flag.contended) === 0) return false
    const next = this.#longestWaiting()
    return next !== undefined && next.who !== this.#me && next.since > fairnessLimit
  }

  /** The word, to detect changes. */
  get word(): number {
    return Atomics.load(this.#cells, this.#at)
  }

  /** Checks whether the holder still runs. */
  checkHolder(): void {
    const holder = holderOf(this.word)
    if (holder !== nobody && holder !== this.#me) this.#threads.removeIfEnded(holder)
  }

  /** Takes back the lock from a thread that is too busy to notice it was handed to it. */
  takeBack(word: number): boolean {
    if ((word & flag.handed) === 0) return false
    return Atomics.compareExchange(this.#cells, this.#at, word, this.#me | flag.contended) === word
  }

  /**
   * Whether the word has no live owner: its holder has ended, or it was handed to this thread or to
   * one that no longer waits.
   */
  #hasNoOwner(word: number): boolean {
    const holder = holderOf(word)
    if ((word & flag.handed) === 0) return !this.#threads.isAlive(holder)
    return (
      holder === this.#me ||
      !this.#threads.isAlive(holder) ||
      Atomics.load(this.#cells, this.#wantOf(slotOf(holder))) === 0
    )
  }

  /**
   * Hands the lock to a starving thread; else frees it for the fastest and wakes the one that has
   * waited longest.
   */
  #pass(word: number): void {
    const next = this.#longestWaiting()
    if (next !== undefined && next.since > fairnessLimit) return this.#hand(word, next.who)
    if (Atomics.compareExchange(this.#cells, this.#at, word, nobody) === word) this.#wakeNext()
  }

  #hand(word: number, to: ThreadIdentity): void {
    const handed = to | flag.handed | flag.contended
    if (Atomics.compareExchange(this.#cells, this.#at, word, handed) !== word) return
    this.#threads.wake(to)
    // It may have stopped waiting before it could see that.
    if (Atomics.load(this.#cells, this.#wantOf(slotOf(to))) !== 0) return
    if (Atomics.compareExchange(this.#cells, this.#at, handed, nobody) === handed) this.#wakeNext()
  }

  #wakeNext(): void {
    const next = this.#longestWaiting()
    if (next !== undefined) this.#threads.wake(next.who)
  }

  #longestWaiting(): { who: ThreadIdentity; since: number } | undefined {
    const now = timestamp()
    let found: { who: ThreadIdentity; since: number } | undefined
    for (let slot = 0; slot < this.#threads.slots; slot++) {
      const want = Atomics.load(this.#cells, this.#wantOf(slot))
      if (want === 0 || this.#threads.isStale(slot, want)) continue
      const who = this.#threads.threadIn(slot)
      const since = (now - want) | 0
      if (who !== nobody && (found === undefined || since > found.since)) found = { who, since }
    }
    return found
  }

  #wantOf(slot: number): number {
    return this.#at + 1 + slot
  }
}
