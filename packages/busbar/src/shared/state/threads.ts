import { threadsNow } from '../cells.ts'
import { type Identity, makeIdentity, nobody, slotOf } from './identity.ts'
import { header, maxThreads, threadInts, threadsAt } from './layout.ts'
import { currentOsThread, mayRun } from './os-thread.ts'

/** A slot's cells. All but `identity` and `bell` are its thread's own to write. */
const cell = {
  /** {@link nobody} while the slot is free, and again when its thread has died. */
  identity: 0,
  tenants: 1,
  /** The identity that the cells below are of: until it is the slot's, they are its predecessor's. */
  described: 2,
  threadId: 3,
  osThread: 4,
  osStart: 5,
  /** Counts up whenever its thread should look at the locks it waits for. */
  bell: 6,
  /** Threads of `offload` that it runs. */
  pooled: 7,
  /** By {@link timestamp}: what the slot's cells elsewhere say from before that is its predecessor's. */
  joined: 8,
} as const

/**
 * The threads that take part, one slot each. Alive is whoever's identity is in its slot: that is taken out once, when
 * the thread has ended, by whoever notices first (see `docs/decisions/shared-state.md`).
 */
export class Threads {
  readonly #cells: Int32Array

  constructor(cells: Int32Array) {
    this.#cells = cells
  }

  /** Gives the calling thread a slot; undefined when all are taken. */
  join(threadId: number): Identity | undefined {
    const identity = this.#claim() ?? (this.#buryTheDead() > 0 ? this.#claim() : undefined)
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

  isAlive(identity: Identity): boolean {
    return Atomics.load(this.#cells, this.#slot(identity)) === identity
  }

  /** The thread has ended: everyone who waits looks again, and finds what it held abandoned. */
  bury(identity: Identity): void {
    if (Atomics.compareExchange(this.#cells, this.#slot(identity), identity, nobody) !== identity) return
    for (const other of this.#living()) this.ring(other)
  }

  buryThread(threadId: number): void {
    for (const identity of this.#living()) {
      const at = this.#slot(identity)
      if (this.#isDescribed(identity) && this.#cells[at + cell.threadId] === threadId) this.bury(identity)
    }
  }

  /** Whether what the slot's cell said at `time` is a predecessor's word. */
  isStale(slot: number, time: number): boolean {
    return ((time - this.#cells[threadsAt + slot * threadInts + cell.joined]!) | 0) < 0
  }

  /** Asks the operating system, where it tells, and buries a thread that is gone. */
  probe(identity: Identity): void {
    const at = this.#slot(identity)
    if (!this.#isDescribed(identity)) return
    const osThread = { number: this.#cells[at + cell.osThread]!, started: this.#cells[at + cell.osStart]! }
    if (osThread.number !== 0 && !mayRun(osThread)) this.bury(identity)
  }

  ring(identity: Identity): void {
    const bell = this.bellOf(identity)
    Atomics.add(this.#cells, bell, 1)
    Atomics.notify(this.#cells, bell)
  }

  /** Where the thread waits: the index of its bell. */
  bellOf(identity: Identity): number {
    return this.#slot(identity) + cell.bell
  }

  addPooled(identity: Identity, by: 1 | -1): void {
    Atomics.add(this.#cells, this.#slot(identity) + cell.pooled, by)
  }

  /** Threads of `offload` that this thread has started. */
  pooledOf(identity: Identity): number {
    return Atomics.load(this.#cells, this.#slot(identity) + cell.pooled)
  }

  /** Threads of `offload` in the whole process. A thread that died took those it had started along. */
  get pooled(): number {
    let sum = 0
    for (const identity of this.#living()) sum += this.pooledOf(identity)
    return sum
  }

  /** Who has that slot now; {@link nobody} if it is free. */
  tenantOf(slot: number): Identity {
    return Atomics.load(this.#cells, threadsAt + slot * threadInts)
  }

  /** How many slots there is something to be read from. */
  get slots(): number {
    return Atomics.load(this.#cells, header.slotsUsed)
  }

  #claim(): Identity | undefined {
    for (let slot = 0; slot < maxThreads; slot++) {
      if (this.tenantOf(slot) !== nobody) continue
      this.#use(slot)
      const at = threadsAt + slot * threadInts
      const identity = makeIdentity(slot, Atomics.add(this.#cells, at + cell.tenants, 1))
      if (Atomics.compareExchange(this.#cells, at, nobody, identity) === nobody) return identity
    }
    return undefined
  }

  #use(slot: number): void {
    for (;;) {
      const used = this.slots
      if (used > slot || Atomics.compareExchange(this.#cells, header.slotsUsed, used, slot + 1) === used) return
    }
  }

  #buryTheDead(): number {
    const before = this.#living().length
    for (const identity of this.#living()) this.probe(identity)
    return before - this.#living().length
  }

  #living(): Identity[] {
    const found: Identity[] = []
    for (let slot = 0; slot < this.slots; slot++) {
      const identity = this.tenantOf(slot)
      if (identity !== nobody) found.push(identity)
    }
    return found
  }

  #isDescribed(identity: Identity): boolean {
    return Atomics.load(this.#cells, this.#slot(identity) + cell.described) === identity
  }

  #slot(identity: Identity): number {
    return threadsAt + slotOf(identity) * threadInts
  }
}

/** Milliseconds on the clock of all threads; they wrap, are compared by difference, and are never 0. */
export function timestamp(): number {
  return threadsNow() | 0 || 1
}
