import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../contract/context.ts'
import { BusbarError } from '../contract/errors.ts'
import { RepeatedLines } from '../shared/output/repeated-lines.ts'
import { openDatabase } from './file/database.ts'
import { type LeftItem, QueueStore } from './file/store.ts'
import { boundedOrigin } from './item-limits.ts'
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
    let database: DatabaseSync | undefined
    try {
      database = openDatabase(file)
      if (database === undefined) {
        // A worker that is being replaced still runs its items.
        this.#lines.add('info', `queue: the file ${file} is in use; its items are moved when it is free`)
        return false
      }
      return await this.#moveFrom(new QueueStore(database))
    } catch (error) {
      this.#lines.add('warn', `queue: items of ${file} wait until they can be moved: ${(error as Error).message}`)
      return false
    } finally {
      database?.close()
    }
  }

  /** Whether none may be moved later. */
  async #moveFrom(store: QueueStore): Promise<boolean> {
    let [isComplete, last] = [true, 0]
    while (!this.#stopped.signal.aborted) {
      const items = store.left(last, atOnce)
      if (items.length === 0) return isComplete && this.#report(store)
      last = items.at(-1)!.number
      const added = await Promise.all(items.map((item) => this.#add(item)))
      const moved = items.filter((_, at) => added[at] === 'moved')
      store.transaction(() => moved.forEach(({ number }) => store.leave(number)))
      this.#moved += moved.length
      if (added.includes('unreached')) return false
      if (added.includes('full')) isComplete = false
    }
    return false
  }

  /** True: nothing is left to do. */
  #report(store: QueueStore): true {
    const { file, log } = this.#parts
    if (this.#moved > 0) log.info(`queue: ${this.#moved} items of ${file} are in the queue of the cluster now`)
    const { dead } = store.tally
    if (dead > 0) log.warn(`queue: dead letters of before the app was in a cluster stay in ${file}: ${dead}`)
    return true
  }

  /** Never rejects. */
  async #add(item: LeftItem): Promise<Fate> {
    const { id, number, added, target } = item
    try {
      // Not by the id alone: items with one id are several if none is within the window of another.
      const origin = boundedOrigin(target, item.origin)
      await this.#parts.queue.add({ ...item, origin, key: `left ${number} ${added} ${id}` })
      return 'moved'
    } catch (error) {
      const { code, message } = BusbarError.from(error)
      const fate = fates[code] ?? 'unreached'
      const isRefused = fate === 'refused'
      const what = isRefused ? 'stays there' : 'waits until it can be moved'
      this.#lines.add(isRefused ? 'error' : 'warn', `queue: an item of ${this.#parts.file} ${what}: ${message}`, code)
      return fate
    }
  }
}

/** `full`: others may have room. `refused`: the queue will never take it. */
type Fate = 'moved' | 'full' | 'refused' | 'unreached'

const fates: Readonly<Partial<Record<string, Fate>>> = { INPUT_INVALID: 'refused', QUEUE_FULL: 'full' }
