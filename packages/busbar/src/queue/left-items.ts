import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../contract/context.ts'
import { BusbarError } from '../contract/errors.ts'
import { RepeatedLines } from '../shared/output/repeated-lines.ts'
import { openDatabase } from './file/database.ts'
import { type LeftItem, QueueStore } from './file/store.ts'
import type { ItemQueue } from './item-queue.ts'

export interface LeftItemsParts {
  /** Absolute path. */
  readonly file: string
  /** Where the items go. */
  readonly queue: ItemQueue
  readonly log: Log
}

/** Items that are added at a time: each holds its input in memory. */
const atOnce = 20
/** Milliseconds until the next try, when the file is in use or the queue takes nothing. */
const retryInterval = 1_000

/**
 * Moves the items that wait in an app's file to the queue of the cluster that it has joined. An
 * item leaves the file once the queue has it. If the app dies in between, its id keeps it from
 * being added again within the window. Dead letters stay in the file.
 */
export class LeftItems {
  readonly #parts: LeftItemsParts
  readonly #lines: RepeatedLines
  readonly #stopped = new AbortController()
  readonly #moving: Promise<void>

  constructor(parts: LeftItemsParts) {
    this.#parts = parts
    this.#lines = new RepeatedLines((level, line) => parts.log[level](line))
    this.#moving = existsSync(parts.file) ? this.#move() : Promise.resolve()
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#moving
    this.#lines.close()
  }

  /** Never rejects. */
  async #move(): Promise<void> {
    const { file } = this.#parts
    const { signal } = this.#stopped
    while (!signal.aborted && !(await this.#tryToMove(file)))
      await sleep(retryInterval, undefined, { signal }).catch(() => {})
  }

  /** Whether nothing is left to do. */
  async #tryToMove(file: string): Promise<boolean> {
    let store: QueueStore | undefined
    try {
      const database = openDatabase(file)
      // A worker that is being replaced still runs its items.
      if (database === undefined) return false
      store = new QueueStore(database)
      await this.#moveFrom(store)
      return true
    } catch (error) {
      this.#lines.add('warn', `queue: items of ${file} wait until they can be moved: ${(error as Error).message}`)
      return false
    } finally {
      store?.close()
    }
  }

  async #moveFrom(store: QueueStore): Promise<void> {
    const { file, log } = this.#parts
    let [moved, last] = [0, 0]
    while (!this.#stopped.signal.aborted) {
      const items = store.left(last, atOnce)
      if (items.length === 0) break
      last = items.at(-1)!.number
      moved += await this.#moveSome(items, store)
    }
    if (moved > 0) log.info(`queue: ${moved} items of ${file} are in the queue of the cluster now`)
    const { dead } = store.tally
    if (dead > 0) log.warn(`queue: dead letters of before the app was in a cluster stay in ${file}: ${dead}`)
  }

  /** Returns how many. Rejects if one may be moved later. */
  async #moveSome(items: readonly LeftItem[], store: QueueStore): Promise<number> {
    const added = await Promise.allSettled(items.map((item) => this.#add(item)))
    const moved = items.filter((_, at) => isTrue(added[at]!))
    store.transaction(() => moved.forEach(({ number }) => store.leave(number)))
    for (const one of added) if (one.status === 'rejected') throw one.reason as Error
    return moved.length
  }

  /** False: the queue will never take it. */
  async #add(item: LeftItem): Promise<boolean> {
    try {
      await this.#parts.queue.add({ ...item, until: item.added })
      return true
    } catch (error) {
      if (!BusbarError.is(error) || error.code !== 'INPUT_INVALID') throw error
      this.#lines.add('error', `queue: an item stays in ${this.#parts.file}: ${error.message}`)
      return false
    }
  }
}

function isTrue(result: PromiseSettledResult<boolean>): boolean {
  return result.status === 'fulfilled' && result.value
}
