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

/** The kinds of named objects, each with its own names, and their numbers in the table. */
const kinds = { counter: 1, atomic: 2, mutex: 3, once: 4 } as const
export type NameKind = keyof typeof kinds

/** Why there is no space for a name. */
export type OutOfSpace = 'names' | 'counters' | 'memory'

const cell = { kind: 0, place: 1, bytes: 2, name: 3 } as const

/**
 * Sizes in cells of the arena. A `once` has its lock, then the position and the length of its
 * value.
 */
const sizes = { atomic: padded, mutex: lockPaddedInts, once: lockPaddedInts + padded } as const

/**
 * A hash table from kind and name to a position that is the same in all threads. An entry becomes
 * visible with the store of its kind, after everything else is written, and is never removed, so
 * lookups need no lock. Insertions do; a thread that dies during one only loses a few cells of the
 * arena.
 */
export class NameTable {
  readonly #cells: Int32Array
  readonly #bytes: Uint8Array
  readonly #lock: ThreadLock

  constructor(cells: Int32Array, lock: ThreadLock) {
    this.#cells = cells
    this.#bytes = new Uint8Array(cells.buffer)
    this.#lock = lock
  }

  /**
   * Finds or creates an entry. Returns the number of a counter, or the index of the first cell for
   * other kinds. `name` has at most {@link maxNameBytes} bytes.
   */
  locate(kind: NameKind, name: string): number | OutOfSpace {
    const bytes = bytesOf(name)
    if (bytes.length > maxNameBytes) throw new RangeError(`a name of ${bytes.length} bytes`)
    const found = this.#find(kind, bytes)
    if (found.place !== undefined) return found.place
    return this.#locked(() => {
      const { place, entry } = this.#find(kind, bytes)
      return place ?? this.#create(kind, bytes, entry)
    })
  }

  /** Reserves that many bytes permanently; returns the index of their first cell. */
  reserve(bytes: number): number | OutOfSpace {
    return this.#locked(() => this.#allocate(Math.ceil(bytes / (padded * 4)) * padded))
  }

  #find(kind: NameKind, name: Uint8Array): { place?: number; entry: number } {
    for (let slot = hashOf(name) % nameSlots; ; slot = (slot + 1) % nameSlots) {
      const entry = namesAt + slot * nameInts
      const found = Atomics.load(this.#cells, entry + cell.kind)
      if (found === 0) return { entry }
      if (found === kinds[kind] && this.#isNamed(entry, name)) return { entry, place: this.#cells[entry + cell.place]! }
    }
  }

  #create(kind: NameKind, name: Uint8Array, entry: number): number | OutOfSpace {
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

  #nextCounter(): number | OutOfSpace {
    const counter = this.#cells[header.counters]!
    if (counter >= maxCounters) return 'counters'
    this.#cells[header.counters] = counter + 1
    return counter
  }

  #allocate(ints: number): number | OutOfSpace {
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

  /** Held for microseconds, so even a thread that serves requests may block for it. */
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

/**
 * UTF-8, with an unpaired surrogate as three bytes: plain UTF-8 would map all of them to the same
 * character.
 */
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
