import { thisThread } from '../this-thread.ts'
import { Directory } from './directory.ts'
import { Doorman } from './doorman.ts'
import type { Identity } from './identity.ts'
import { header } from './layout.ts'
import { LockCells } from './lock-cells.ts'
import { currentSegment, type Segment } from './segment.ts'
import { ThreadLock } from './thread-lock.ts'
import { Threads } from './threads.ts'

/** This thread's part in the common memory. */
export class Membership {
  readonly cells: Int32Array
  readonly threads: Threads
  readonly me: Identity
  readonly directory: Directory
  readonly #doorman: Doorman
  readonly #locks = new Map<number, ThreadLock>()

  constructor(cells: Int32Array, threads: Threads, me: Identity) {
    this.cells = cells
    this.threads = threads
    this.me = me
    this.#doorman = new Doorman(cells, threads.bellOf(me))
    this.directory = new Directory(cells, this.lockAt(header.directoryLock))
  }

  /** One for each lock: who waits in this thread stands in one line. */
  lockAt(at: number): ThreadLock {
    const known = this.#locks.get(at)
    if (known !== undefined) return known
    const lock = new ThreadLock(new LockCells(this.cells, at, this.threads, this.me), this.#doorman)
    this.#locks.set(at, lock)
    return lock
  }
}

export type Joined =
  | { readonly state: 'joined'; readonly membership: Membership }
  | Extract<Segment, { state: 'refused' }>
  /** As many threads as there can be take part already. */
  | { readonly state: 'crowded' }

/** Several copies of this package in one thread are one member. */
const symbol = Symbol.for('busbar.shared.member')
const global = globalThis as { [found: symbol]: Joined | undefined }

/** Takes part, the first time it is asked. */
export function joinShared(): Joined {
  const known = global[symbol]
  if (known !== undefined) return known
  const segment = currentSegment()
  if (segment.state === 'refused') return segment
  const threads = new Threads(segment.cells)
  const me = threads.join(thisThread.id)
  if (me === undefined) return { state: 'crowded' }
  return (global[symbol] = { state: 'joined', membership: new Membership(segment.cells, threads, me) })
}
