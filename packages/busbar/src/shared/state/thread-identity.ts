/**
 * The identity of a thread, in a word that also fits into a lock: its slot, and a generation per
 * slot, so that what a dead thread left is never attributed to its successor.
 *
 *     0 │ generation: 22 bits │ slot: 7 bits │ flags of a lock: 2 bits
 */
export type ThreadIdentity = number

const slotBits = 7
const flagBits = 2
const generations = 2 ** 22

/** Flags in a lock's word, besides its holder. */
export const flag = {
  /** A thread may be waiting: the releasing thread must check. */
  contended: 1,
  /** Handed to a thread that has not noticed yet. */
  handed: 2,
} as const

export const nobody: ThreadIdentity = 0

export function makeIdentity(slot: number, count: number): ThreadIdentity {
  // Never 0, even after four million threads in one slot.
  const generation = (count % (generations - 1)) + 1
  return (generation << (slotBits + flagBits)) | (slot << flagBits)
}

export function slotOf(identity: ThreadIdentity): number {
  return (identity >> flagBits) & (2 ** slotBits - 1)
}

export function holderOf(word: number): ThreadIdentity {
  return word & ~(flag.contended | flag.handed)
}
