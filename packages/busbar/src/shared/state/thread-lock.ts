import type { LockWaiter } from './lock-waiter.ts'
import type { LockCells } from './lock-cells.ts'

export type LockResult = 'taken' | 'abandoned'

/** A pending asynchronous lock. */
export interface PendingLock {
  readonly taken: Promise<LockResult>
  /** Stops waiting. False if the lock is already taken. */
  cancel(): boolean
}

type Resolve = (taking: LockResult) => void

/**
 * A lock as one thread sees it. The thread holds it towards other threads; within the thread,
 * callers queue, and the whole queue counts as one waiting thread.
 */
export class ThreadLock {
  readonly #cells: LockCells
  readonly #waiter: LockWaiter
  /** In order of arrival. */
  readonly #queue = new Set<Resolve>()
  #held = false
  /** The lock's word at the last check without a wake-up. */
  #seen = 0

  constructor(cells: LockCells, waiter: LockWaiter) {
    this.#cells = cells
    this.#waiter = waiter
  }

  /** Whether a caller in this thread holds it: blocking the thread would then wait for ever. */
  get isHeldHere(): boolean {
    return this.#held
  }

  tryAcquire(): LockResult | undefined {
    if (this.#held) return undefined
    const taking = this.#cells.take()
    if (taking === 'busy') return undefined
    this.#held = true
    return taking
  }

  wait(): PendingLock {
    const { promise, resolve } = Promise.withResolvers<LockResult>()
    this.#queue.add(resolve)
    this.#waiter.add(this)
    return { taken: promise, cancel: () => this.#cancel(resolve) }
  }

  /** Blocks the thread for up to `timeout` milliseconds; undefined if that was not enough. */
  waitSync(timeout: number): LockResult | undefined {
    const until = performance.now() + timeout
    try {
      for (;;) {
        const wakeups = this.#waiter.wakeups
        this.#cells.want()
        const taking = this.tryAcquire()
        if (taking !== undefined) return taking
        if (!this.#cells.contend()) continue
        const left = until - performance.now()
        if (left <= 0) return undefined
        if (!this.#waiter.sleep(wakeups, left) && this.#checkHolder()) return 'taken'
      }
    } finally {
      if (this.#queue.size === 0) this.#cells.unwant()
    }
  }

  /**
   * Hands the lock to the next caller of this thread, unless another thread has waited too long.
   */
  release(): void {
    this.#held = false
    if (this.#queue.size > 0 && !this.#cells.mustYield) return this.#admit('taken')
    this.#cells.release()
    if (this.#queue.size > 0) this.#waiter.add(this)
  }

  /**
   * Takes the lock for the first caller in the queue if possible. True while callers still wait.
   */
  attempt(): boolean {
    while (this.#queue.size > 0 && !this.#held) {
      this.#cells.want()
      const taking = this.#cells.take()
      if (taking !== 'busy') this.#admit(taking)
      else if (this.#cells.contend()) break
    }
    return this.#queue.size > 0
  }

  /** The same, after {@link checkInterval} without a wake-up. */
  attemptLate(): boolean {
    if (this.#queue.size > 0 && !this.#held && this.#checkHolder()) this.#admit('taken')
    return this.attempt()
  }

  /**
   * Detects a dead holder, and takes the lock back from a thread that does not react to getting it.
   */
  #checkHolder(): boolean {
    const word = this.#cells.word
    const isSame = word === this.#seen
    this.#seen = word
    if (isSame && this.#cells.takeBack(word)) return (this.#held = true)
    this.#cells.checkHolder()
    return false
  }

  #admit(taking: LockResult): void {
    const [first] = this.#queue
    this.#held = true
    this.#queue.delete(first!)
    this.#cells.unwant()
    if (this.#queue.size > 0) this.#cells.want()
    first!(taking)
  }

  #cancel(resolve: Resolve): boolean {
    if (!this.#queue.delete(resolve)) return false
    if (this.#queue.size === 0) this.#cells.unwant()
    return true
  }
}
