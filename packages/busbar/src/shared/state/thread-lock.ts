import type { Doorman } from './doorman.ts'
import type { LockCells } from './lock-cells.ts'

export type Taking = 'taken' | 'abandoned'

/** What somebody who waits without blocking has in hand. */
export interface Waiting {
  readonly taken: Promise<Taking>
  /** Stops waiting. False: too late, the lock is had already. */
  leave(): boolean
}

type Resolve = (taking: Taking) => void

/**
 * A lock as one thread sees it. Between threads the thread holds it; within the thread, those who wait stand in line,
 * and all of them together are one who wants it.
 */
export class ThreadLock {
  readonly #cells: LockCells
  readonly #doorman: Doorman
  /** In the order in which they came. */
  readonly #line = new Set<Resolve>()
  #held = false
  /** The word that was seen when the last slice of time was over. */
  #seen = 0

  constructor(cells: LockCells, doorman: Doorman) {
    this.#cells = cells
    this.#doorman = doorman
  }

  /** Whether somebody of this thread holds it: to block the thread would be to wait for ever. */
  get isHeldHere(): boolean {
    return this.#held
  }

  tryTake(): Taking | undefined {
    if (this.#held) return undefined
    const taking = this.#cells.take()
    if (taking === 'busy') return undefined
    this.#held = true
    return taking
  }

  wait(): Waiting {
    const { promise, resolve } = Promise.withResolvers<Taking>()
    this.#line.add(resolve)
    this.#doorman.attend(this)
    return { taken: promise, leave: () => this.#leave(resolve) }
  }

  /** Blocks the thread for up to `timeout` milliseconds; undefined when that was not enough. */
  waitSync(timeout: number): Taking | undefined {
    const until = performance.now() + timeout
    try {
      for (;;) {
        const bell = this.#doorman.bell
        this.#cells.want()
        const taking = this.tryTake()
        if (taking !== undefined) return taking
        if (!this.#cells.contend()) continue
        const left = until - performance.now()
        if (left <= 0) return undefined
        if (!this.#doorman.sleep(bell, left) && this.#lookAround()) return 'taken'
      }
    } finally {
      if (this.#line.size === 0) this.#cells.unwant()
    }
  }

  /** To the next of this thread's line, unless another thread has waited too long already. */
  release(): void {
    this.#held = false
    if (this.#line.size > 0 && !this.#cells.starves) return this.#admit('taken')
    this.#cells.release()
    if (this.#line.size > 0) this.#doorman.attend(this)
  }

  /** Takes the lock for the first in line if it can be had. True: somebody still waits. */
  attempt(): boolean {
    while (this.#line.size > 0 && !this.#held) {
      this.#cells.want()
      const taking = this.#cells.take()
      if (taking !== 'busy') this.#admit(taking)
      else if (this.#cells.contend()) break
    }
    return this.#line.size > 0
  }

  /** The same when a slice of time is over and nobody has rung. */
  attemptLate(): boolean {
    if (this.#line.size > 0 && !this.#held && this.#lookAround()) this.#admit('taken')
    return this.attempt()
  }

  /** Finds out whether the holder is dead, and takes the lock back from a thread that was given it and does not react. */
  #lookAround(): boolean {
    const word = this.#cells.word
    const isSame = word === this.#seen
    this.#seen = word
    if (isSame && this.#cells.takeBack(word)) return (this.#held = true)
    this.#cells.probe()
    return false
  }

  #admit(taking: Taking): void {
    const [first] = this.#line
    this.#held = true
    this.#line.delete(first!)
    this.#cells.unwant()
    if (this.#line.size > 0) this.#cells.want()
    first!(taking)
  }

  #leave(resolve: Resolve): boolean {
    if (!this.#line.delete(resolve)) return false
    if (this.#line.size === 0) this.#cells.unwant()
    return true
  }
}
