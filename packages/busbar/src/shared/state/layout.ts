/**
 * The one piece of memory that all threads of a process find their common state in. Its size is fixed, since a larger one
 * could not be handed to threads that have it already; pages that nobody touches cost nothing.
 *
 *     0        │ header: how much of each is in use; the lock of the directory                │   4 KiB
 *     threads  │ a slot for each thread: who it is, whether it lives, the bell it waits at    │  16 KiB
 *     names    │ a hash table: kind and name → place                                          │ 256 KiB
 *     counters │ a row for each slot, 16 bytes for each counter; only the slot's thread writes │   1 MiB
 *     arena    │ locks, atomics and the values of `once`, in the order of their making        │ the rest
 *
 * All positions are indexes of an `Int32Array` over the whole.
 */
export const segmentBytes = 4 * 1024 * 1024

/** Changes with the layout and with what the cells mean: copies of this package that differ in it cannot share. */
export const segmentVersion = 1

export const maxThreads = 128
export const maxCounters = 512
/** Half of the table, so that a search is short. */
export const maxNames = 1024
export const nameSlots = 2 * maxNames
export const maxNameBytes = 100

/** 128 bytes: processors fetch lines of 64 in pairs, and what two threads write must not be in one pair. */
export const padded = 32

export const header = {
  names: 0,
  counters: 1,
  arenaEnd: 2,
  /** Slots from here on have never had a tenant. */
  slotsUsed: 3,
  directoryLock: padded,
} as const

export const threadsAt = 1024
export const threadInts = padded
export const namesAt = threadsAt + maxThreads * threadInts
export const nameInts = padded
export const countersAt = namesAt + nameSlots * nameInts
export const counterInts = 4
export const counterRowInts = maxCounters * counterInts
/** The word and a cell for each thread, in whole lines. */
export const lockPaddedInts = Math.ceil((1 + maxThreads) / padded) * padded
export const arenaAt = countersAt + maxThreads * counterRowInts
export const segmentInts = segmentBytes / Int32Array.BYTES_PER_ELEMENT

export function createSegment(): Int32Array {
  const cells = new Int32Array(new SharedArrayBuffer(segmentBytes))
  cells[header.arenaEnd] = arenaAt
  return cells
}
