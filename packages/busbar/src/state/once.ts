import { deserialize, serialize } from 'node:v8'
import { BusbarError } from '../contract/errors.ts'
import { lockPaddedInts } from '../shared/state/layout.ts'
import type { Membership } from '../shared/state/membership.ts'
import type { ThreadLock } from '../shared/state/thread-lock.ts'
import { acquire, type WaitOptions } from './mutex.ts'
import { allocate, reserve } from './allocate.ts'

/** Cells after those of the lock. */
const cell = { isDone: 0, at: 1, bytes: 2 } as const

/** A value that one thread creates and all threads read. */
export class Once {
  readonly #what: string
  readonly #membership: Membership
  readonly #lock: ThreadLock
  readonly #at: number
  /** This thread's clone. */
  #value: { readonly is: unknown } | undefined

  constructor(name: string) {
    const { membership, at } = allocate('once', name)
    this.#what = `shared.once(${JSON.stringify(name)})`
    this.#membership = membership
    this.#lock = membership.lockAt(at)
    this.#at = at + lockPaddedInts
  }

  async get<Value>(init: () => Value | Promise<Value>, options: WaitOptions): Promise<Value> {
    this.#value ??= this.#read()
    // The caller states the type, as for everything that is looked up by name.
    if (this.#value !== undefined) return this.#value.is as Value
    await acquire(this.#lock, this.#what, options)
    try {
      this.#value ??= this.#read()
      if (this.#value === undefined) {
        this.#write(await init())
        this.#value = this.#read()!
      }
      return this.#value.is as Value
    } finally {
      this.#lock.release()
    }
  }

  #read(): { is: unknown } | undefined {
    const { cells } = this.#membership
    if (Atomics.load(cells, this.#at + cell.isDone) === 0) return undefined
    const start = cells[this.#at + cell.at]! * 4
    // A copy, since the decoded value may keep views of it.
    const bytes = Buffer.from(new Uint8Array(cells.buffer, start, cells[this.#at + cell.bytes]))
    return { is: deserialize(bytes) }
  }

  #write(value: unknown): void {
    const { cells } = this.#membership
    const bytes = this.#encode(value)
    const at = reserve(this.#membership, bytes.length, `the ${bytes.length} bytes of ${this.#what}`)
    new Uint8Array(cells.buffer).set(bytes, at * 4)
    cells[this.#at + cell.at] = at
    cells[this.#at + cell.bytes] = bytes.length
    Atomics.store(cells, this.#at + cell.isDone, 1)
  }

  #encode(value: unknown): Buffer {
    try {
      return serialize(value)
    } catch (cause) {
      const message = `the result of the init of ${this.#what} cannot be cloned: ${(cause as Error).message}`
      throw new BusbarError('SHARED_INVALID', { message, cause, hint: 'Return data only: no functions, no streams.' })
    }
  }
}
