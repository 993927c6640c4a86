import {
  header,
  lockPaddedInts,
  maxCounters,
  maxNameBytes,
  maxNames,
  nameInts,
  namesAt,
  nameSlots,
  padded,
  segmentInts,
} from './layout.ts'
import type { ThreadLock } from './thread-lock.ts'

/** What can have a name; each kind has names of its own. In the table a kind is its number. */
const kinds = { counter: 1, atomic: 2, mutex: 3, once: 4 } as const
export type Kind = keyof typeof kinds

/** Why a name got no place. */
export type Full = 'names' | 'counters' | 'memory'

const cell = { kind: 0, place: 1, bytes: 2, name: 3 } as const

/** Cells in the arena. A `once` has its lock, then where its value is and how many bytes that has. */
const sizes = { atomic: padded, mutex: lockPaddedInts, once: lockPaddedInts + padded } as const

/**
 * From a kind and a name to a place that is the same in all threads. An entry appears with the store of its kind, after all
 * else of it is there, and stays for ever: so looking for one takes no lock. Making one does, and whoever dies at it
 * leaves nothing but a few cells of the arena that nobody uses.
 */
export class Directory {
  readonly #cells: Int32Array
  readonly #bytes: Uint8Array
  readonly #lock: ThreadLock

  constructor(cells: Int32Array, lock: ThreadLock) {
    this.#cells = cells
    this.#bytes = new Uint8Array(cells.buffer)
    this.#lock = lock
  }

  /** The number of a counter, for all else the index of its first cell. `name` has at most {@link maxNameBytes} bytes. */
  placeOf(kind: Kind, name: string): number | Full {
    const bytes = bytesOf(name)
    if (bytes.length > maxNameBytes) throw new RangeError(`a name of ${bytes.length} bytes`)
    const found = this.#find(kind, bytes)
    if (found.place !== undefined) return found.place
    return this.#locked(() => {
      const { place, entry } = this.#find(kind, bytes)
      return place ?? this.#create(kind, bytes, entry)
    })
  }

  /** Room for that many bytes, for ever: the index of their first cell. */
  reserve(bytes: number): number | Full {
    return this.#locked(() => this.#allocate(Math.ceil(bytes / (padded * 4)) * padded))
  }

  #find(kind: Kind, name: Uint8Array): { place?: number; entry: number } {
    for (let slot = hashOf(name) % nameSlots; ; slot = (slot + 1) % nameSlots) {
      const entry = namesAt + slot * nameInts
      const found = Atomics.load(this.#cells, entry + cell.kind)
      if (found === 0) return { entry }
      if (found === kinds[kind] && this.#isNamed(entry, name)) return { entry, place: this.#cells[entry + cell.place]! }
    }
  }

  #create(kind: Kind, name: Uint8Array, entry: number): number | Full {
    if (this.#cells[header.names]! >= maxNames) return 'names'
    const place = kind === 'counter' ? this.#nextCounter() : this.#allocate(sizes[kind])
    if (typeof place !== 'number') return place
    this.#cells[header.names] = this.#cells[header.names]! + 1
    this.#cells[entry + cell.place] = place
    this.#cells[entry + cell.bytes] = name.length
    this.#bytes.set(name, (entry + cell.name) * 4)
    Atomics.store(this.#cells, entry + cell.kind, kinds[kind])
    return place
  }

  #nextCounter(): number | Full {
    const counter = this.#cells[header.counters]!
    if (counter >= maxCounters) return 'counters'
    this.#cells[header.counters] = counter + 1
    return counter
  }

  #allocate(ints: number): number | Full {
    const at = this.#cells[header.arenaEnd]!
    if (at + ints > segmentInts) return 'memory'
    this.#cells[header.arenaEnd] = at + ints
    return at
  }

  #isNamed(entry: number, name: Uint8Array): boolean {
    if (this.#cells[entry + cell.bytes] !== name.length) return false
    const start = (entry + cell.name) * 4
    return name.every((byte, index) => this.#bytes[start + index] === byte)
  }

  /** Held for microseconds, so a thread that serves may block for it. */
  #locked<Result>(work: () => Result): Result {
    this.#lock.waitSync(Infinity)
    try {
      return work()
    } finally {
      this.#lock.release()
    }
  }
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** UTF-8, with a surrogate that has no partner as three bytes of its own: UTF-8 would make all of them the same character. */
function bytesOf(name: string): Uint8Array {
  if (name.isWellFormed()) return Buffer.from(name)
  return Buffer.concat(
    Array.from(name, (character) => {
      if (character.isWellFormed()) return Buffer.from(character)
      const unit = character.charCodeAt(0)
      return Buffer.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f))
    }),
  )
}
