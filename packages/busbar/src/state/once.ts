import { deserialize, serialize } from 'node:v8'
import { BusbarError } from '../contract/errors.ts'
import { lockPaddedInts } from '../shared/state/layout.ts'
import type { Membership } from '../shared/state/membership.ts'
import type { ThreadLock } from '../shared/state/thread-lock.ts'
import { takeIn, type WaitOptions } from './mutex.ts'
import { placeOf, reserve } from './place.ts'

/** Behind the lock. */
const cell = { isDone: 0, at: 1, bytes: 2 } as const

/** A value that one thread makes and all have. */
export class Once {
  readonly #what: string
  readonly #membership: Membership
  readonly #lock: ThreadLock
  readonly #at: number
  /** This thread's clone. */
  #value: { readonly is: unknown } | undefined

  constructor(name: string) {
    const { membership, at } = placeOf('once', name)
    this.#what = `shared.once(${JSON.stringify(name)})`
    this.#membership = membership
    this.#lock = membership.lockAt(at)
    this.#at = at + lockPaddedInts
  }

  async get<Value>(init: () => Value | Promise<Value>, options: WaitOptions): Promise<Value> {
    this.#value ??= this.#read()
    // The caller says what it is, as with everything that comes out of a name.
    if (this.#value !== undefined) return this.#value.is as Value
    await takeIn(this.#lock, this.#what, options)
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
    // A copy, since whoever decodes may keep views of it.
    const bytes = Buffer.from(new Uint8Array(cells.buffer, start, cells[this.#at + cell.bytes]))
    return { is: deserialize(bytes) }
  }

  #write(value: unknown): void {
    const { cells } = this.#membership
    const bytes = this.#encode(value)
    const place = reserve(this.#membership, bytes.length, `the ${bytes.length} bytes of ${this.#what}`)
    new Uint8Array(cells.buffer).set(bytes, place * 4)
    cells[this.#at + cell.at] = place
    cells[this.#at + cell.bytes] = bytes.length
    Atomics.store(cells, this.#at + cell.isDone, 1)
  }

  #encode(value: unknown): Buffer {
    try {
      return serialize(value)
    } catch (cause) {
      const message = `what the init of ${this.#what} returned cannot be cloned: ${(cause as Error).message}`
      throw new BusbarError('SHARED_INVALID', { message, cause, hint: 'return data: no functions, no streams' })
    }
  }
}
