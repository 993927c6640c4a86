import { existsSync, statSync } from 'node:fs'
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
 * item leaves the file once the queue has it. If the app dies in between, its place in the file
 * keeps it from being added again within the window. Dead letters stay in the file.
 */
export class LeftItems {
  readonly #parts: LeftItemsParts
  readonly #lines: RepeatedLines
  readonly #stopped = new AbortController()
  readonly #moving: Promise<void>
  #moved = 0

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
      if (database === undefined) {
        // A worker that is being replaced still runs its items.
        this.#lines.add('info', `queue: the file ${file} is in use; its items are moved when it is free`)
        return false
      }
      store = new QueueStore(database)
      return await this.#moveFrom(store)
    } catch (error) {
      this.#lines.add('warn', `queue: items of ${file} wait until they can be moved: ${(error as Error).message}`)
      return false
    } finally {
      store?.close()
    }
  }

  /** Whether none may be moved later. */
  async #moveFrom(store: QueueStore): Promise<boolean> {
    let [isComplete, last] = [true, 0]
    for (;;) {
      if (this.#stopped.signal.aborted) return false
      const items = store.left(last, atOnce)
      if (items.length === 0) break
      last = items.at(-1)!.number
      isComplete = (await this.#moveSome(items, store)) && isComplete
    }
    if (isComplete) this.#report(store)
    return isComplete
  }

  #report(store: QueueStore): void {
    const { file, log } = this.#parts
    if (this.#moved > 0) log.info(`queue: ${this.#moved} items of ${file} are in the queue of the cluster now`)
    const { dead } = store.tally
    if (dead > 0) log.warn(`queue: dead letters of before the app was in a cluster stay in ${file}: ${dead}`)
  }

  /** Whether none of them may be moved later. Rejects if the queue cannot be reached. */
  async #moveSome(items: readonly LeftItem[], store: QueueStore): Promise<boolean> {
    const results = await Promise.allSettled(items.map((item) => this.#add(item)))
    const moved = items.filter((_, at) => (results[at] as { value?: unknown }).value === 'moved')
    store.transaction(() => moved.forEach(({ number }) => store.leave(number)))
    this.#moved += moved.length
    for (const one of results) if (one.status === 'rejected') throw one.reason as Error
    return results.every((one) => (one as { value?: unknown }).value !== 'full')
  }

  /** `refused`: the queue will never take it. */
  async #add(item: LeftItem): Promise<'moved' | 'full' | 'refused'> {
    const { file, queue } = this.#parts
    try {
      // Not by its id: items with one id are several if none is within the window of another.
      await queue.add({ ...item, key: `left ${statSync(file).ino} ${item.number} ${item.added}` })
      return 'moved'
    } catch (error) {
      const code = BusbarError.is(error) ? error.code : undefined
      if (code !== 'INPUT_INVALID' && code !== 'QUEUE_FULL') throw error
      const isFull = code === 'QUEUE_FULL'
      const fate = isFull ? 'waits until it can be moved' : 'stays there'
      this.#lines.add(isFull ? 'warn' : 'error', `queue: an item of ${file} ${fate}: ${(error as Error).message}`, code)
      return isFull ? 'full' : 'refused'
    }
  }
}
