import { thisThread } from '../process/this-thread.ts'
import { NameTable } from './name-table.ts'
import { LockWaiter } from './lock-waiter.ts'
import type { ThreadIdentity } from './thread-identity.ts'
import { header } from './layout.ts'
import { LockCells } from './lock-cells.ts'
import { currentSegment, type Segment } from './segment.ts'
import { ThreadLock } from './thread-lock.ts'
import { ThreadTable } from './thread-table.ts'

/** This thread's access to the shared memory. */
export class Membership {
  readonly cells: Int32Array
  readonly threads: ThreadTable
  readonly me: ThreadIdentity
  readonly names: NameTable
  readonly #waiter: LockWaiter
  readonly #locks = new Map<number, ThreadLock>()

  constructor(cells: Int32Array, threads: ThreadTable, me: ThreadIdentity) {
    this.cells = cells
    this.threads = threads
    this.me = me
    this.#waiter = new LockWaiter(cells, threads.wakeCounterOf(me))
    this.names = new NameTable(cells, this.lockAt(header.nameTableLock))
  }

  /** One object per lock, so that all waiting callers of this thread form one queue. */
  lockAt(at: number): ThreadLock {
    const known = this.#locks.get(at)
    if (known !== undefined) return known
    const lock = new ThreadLock(new LockCells(this.cells, at, this.threads, this.me), this.#waiter)
    this.#locks.set(at, lock)
    return lock
  }
}

export type Joined =
  | { readonly state: 'joined'; readonly membership: Membership }
  | Extract<Segment, { state: 'refused' }>
  /** The limit of threads is reached. */
  | { readonly state: 'crowded' }

/** All copies of this package in a thread share one membership. */
const symbol = Symbol.for('busbar.shared.member')
const global = globalThis as { [found: symbol]: Joined | undefined }

/** Joins at the first call. */
export function joinShared(): Joined {
  const known = global[symbol]
  if (known !== undefined) return known
  const segment = currentSegment()
  if (segment.state === 'refused') return segment
  const threads = new ThreadTable(segment.cells)
  const me = threads.join(thisThread.id)
  if (me === undefined) return { state: 'crowded' }
  return (global[symbol] = { state: 'joined', membership: new Membership(segment.cells, threads, me) })
}
