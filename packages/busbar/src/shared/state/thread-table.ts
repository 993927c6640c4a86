import { threadsNow } from '../metrics/worker-cells.ts'
import { type ThreadIdentity, makeIdentity, nobody, slotOf } from './thread-identity.ts'
import { header, maxThreads, threadInts, threadsAt } from './layout.ts'
import { currentOsThread, mayRun } from './os-thread.ts'

/** The cells of a slot. Only its thread writes them, except `identity` and `wakeups`. */
const cell = {
  /** {@link nobody} while the slot is free, and again after its thread has ended. */
  identity: 0,
  generation: 1,
  /**
   * The identity to which the cells below belong: until it equals the slot's, they are the
   * predecessor's.
   */
  described: 2,
  threadId: 3,
  osThread: 4,
  osStart: 5,
  /** Incremented to make the thread check the locks that it waits for. */
  wakeups: 6,
  /** Number of its `offload` threads. */
  pooled: 7,
  /** By {@link timestamp}: older entries of the slot in other cells are the predecessor's. */
  joined: 8,
} as const

/**
 * The participating threads, one slot each. A thread is alive while its identity is in its slot.
 * The first to notice its end removes it, once (see `docs/decisions/run/shared-state.md`).
 */
export class ThreadTable {
  readonly #cells: Int32Array

  constructor(cells: Int32Array) {
    this.#cells = cells
  }

  /** Assigns a slot to the calling thread; undefined if all are taken. */
  join(threadId: number): ThreadIdentity | undefined {
    const identity = this.#claim() ?? (this.#removeEnded() > 0 ? this.#claim() : undefined)
    if (identity === undefined) return undefined
    const at = this.#slot(identity)
    const osThread = currentOsThread()
    this.#cells[at + cell.joined] = timestamp()
    this.#cells[at + cell.pooled] = 0
    this.#cells[at + cell.threadId] = threadId
    this.#cells[at + cell.osThread] = osThread?.number ?? 0
    this.#cells[at + cell.osStart] = osThread?.started ?? 0
    Atomics.store(this.#cells, at + cell.described, identity)
    return identity
  }

  isAlive(identity: ThreadIdentity): boolean {
    return Atomics.load(this.#cells, this.#slot(identity)) === identity
  }

  /** Removes an ended thread: all waiting threads check again and find its locks abandoned. */
  remove(identity: ThreadIdentity): void {
    if (Atomics.compareExchange(this.#cells, this.#slot(identity), identity, nobody) !== identity) return
    for (const other of this.#liveThreads()) this.wake(other)
  }

  removeThread(threadId: number): void {
    for (const identity of this.#liveThreads()) {
      const at = this.#slot(identity)
      if (this.#isDescribed(identity) && this.#cells[at + cell.threadId] === threadId) this.remove(identity)
    }
  }

  /** Whether a slot's entry from `time` belongs to a predecessor. */
  isStale(slot: number, time: number): boolean {
    return ((time - this.#cells[threadsAt + slot * threadInts + cell.joined]!) | 0) < 0
  }

  /** Asks the operating system, if it tells, and removes a thread that has ended. */
  removeIfEnded(identity: ThreadIdentity): void {
    const at = this.#slot(identity)
    if (!this.#isDescribed(identity)) return
    const osThread = { number: this.#cells[at + cell.osThread]!, started: this.#cells[at + cell.osStart]! }
    if (osThread.number !== 0 && !mayRun(osThread)) this.remove(identity)
  }

  wake(identity: ThreadIdentity): void {
    const counter = this.wakeCounterOf(identity)
    Atomics.add(this.#cells, counter, 1)
    Atomics.notify(this.#cells, counter)
  }

  /** The index of the thread's wake-up counter. */
  wakeCounterOf(identity: ThreadIdentity): number {
    return this.#slot(identity) + cell.wakeups
  }

  addPooled(identity: ThreadIdentity, by: 1 | -1): void {
    Atomics.add(this.#cells, this.#slot(identity) + cell.pooled, by)
  }

  /** Number of `offload` threads in the process. Those of an ended thread have ended with it. */
  get pooled(): number {
    let sum = 0
    for (const identity of this.#liveThreads()) sum += Atomics.load(this.#cells, this.#slot(identity) + cell.pooled)
    return sum
  }

  /** The thread in that slot; {@link nobody} if it is free. */
  threadIn(slot: number): ThreadIdentity {
    return Atomics.load(this.#cells, threadsAt + slot * threadInts)
  }

  /** The number of slots that were ever used. */
  get slots(): number {
    return Atomics.load(this.#cells, header.slotsUsed)
  }

  #claim(): ThreadIdentity | undefined {
    for (let slot = 0; slot < maxThreads; slot++) {
      if (this.threadIn(slot) !== nobody) continue
      this.#markUsed(slot)
      const at = threadsAt + slot * threadInts
      const identity = makeIdentity(slot, Atomics.add(this.#cells, at + cell.generation, 1))
      if (Atomics.compareExchange(this.#cells, at, nobody, identity) === nobody) return identity
    }
    return undefined
  }

  #markUsed(slot: number): void {
    for (;;) {
      const used = this.slots
      if (used > slot || Atomics.compareExchange(this.#cells, header.slotsUsed, used, slot + 1) === used) return
    }
  }

  #removeEnded(): number {
    const before = this.#liveThreads().length
    for (const identity of this.#liveThreads()) this.removeIfEnded(identity)
    return before - this.#liveThreads().length
  }

  #liveThreads(): ThreadIdentity[] {
    const found: ThreadIdentity[] = []
    for (let slot = 0; slot < this.slots; slot++) {
      const identity = this.threadIn(slot)
      if (identity !== nobody) found.push(identity)
    }
    return found
  }

  #isDescribed(identity: ThreadIdentity): boolean {
    return Atomics.load(this.#cells, this.#slot(identity) + cell.described) === identity
  }

  #slot(identity: ThreadIdentity): number {
    return threadsAt + slotOf(identity) * threadInts
  }
}

/**
 * Milliseconds of the clock that all threads share; they wrap, are compared by difference, and are
 * never 0.
 */
export function timestamp(): number {
  return threadsNow() | 0 || 1
}
