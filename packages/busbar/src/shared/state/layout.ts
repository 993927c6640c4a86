/**
 * The layout of the memory segment that all threads of a process share. Its size is fixed, since
 * threads that have it could not get a larger one; untouched pages cost nothing.
 *
 *     0        │ header: how much of each part is in use; the name table's lock         │   4 KiB
 *     threads  │ a slot per thread: identity, life signs, wake-up counter               │  16 KiB
 *     names    │ a hash table: kind and name → position                                 │ 256 KiB
 *     counters │ a row per slot, 16 bytes per counter; only the slot's thread writes    │   1 MiB
 *     arena    │ locks, atomics and the values of `once`, in order of creation          │ the rest
 *
 * All positions are indexes of an `Int32Array` over the whole segment.
 */
export const segmentBytes = 4 * 1024 * 1024

/**
 * Incremented with the layout and the meaning of cells: copies of this package with different
 * versions cannot share.
 */
export const segmentVersion = 1

export const maxThreads = 128
export const maxCounters = 512
/** Half of the table's slots, so that searches are short. */
export const maxNames = 1024
export const nameSlots = 2 * maxNames
export const maxNameBytes = 100

/**
 * In cells, 128 bytes: processors fetch cache lines of 64 bytes in pairs, and two threads must not
 * write to one pair.
 */
export const padded = 32

export const header = {
  names: 0,
  counters: 1,
  arenaEnd: 2,
  /** Slots from here on were never used. */
  slotsUsed: 3,
  nameTableLock: padded,
} as const

export const threadsAt = 1024
export const threadInts = padded
export const namesAt = threadsAt + maxThreads * threadInts
export const nameInts = padded
export const countersAt = namesAt + nameSlots * nameInts
export const counterInts = 4
export const counterRowInts = maxCounters * counterInts
/** The lock's word and a cell per thread, in whole cache lines. */
export const lockPaddedInts = Math.ceil((1 + maxThreads) / padded) * padded
export const arenaAt = countersAt + maxThreads * counterRowInts
export const segmentInts = segmentBytes / Int32Array.BYTES_PER_ELEMENT

export function createSegment(): Int32Array {
  const cells = new Int32Array(new SharedArrayBuffer(segmentBytes))
  cells[header.arenaEnd] = arenaAt
  return cells
}
