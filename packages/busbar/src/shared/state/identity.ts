/**
 * Who a thread is, in a word that also fits into a lock: the slot it has, and the how-manieth tenant of that slot it is,
 * so that what a dead thread has left behind is never taken for its successor's.
 *
 *     0 │ generation: 22 bits │ slot: 7 bits │ flags of a lock: 2 bits
 */
export type Identity = number

const slotBits = 7
const flagBits = 2
const generations = 2 ** 22

/** What a lock's word says besides its holder. */
export const flag = {
  /** Somebody may be waiting: whoever releases has to look. */
  contended: 1,
  /** Given to a thread that has not noticed yet. */
  handed: 2,
} as const

export const nobody: Identity = 0

export function makeIdentity(slot: number, tenancy: number): Identity {
  // Never 0, even after four million tenants.
  const generation = (tenancy % (generations - 1)) + 1
  return (generation << (slotBits + flagBits)) | (slot << flagBits)
}

export function slotOf(identity: Identity): number {
  return (identity >> flagBits) & (2 ** slotBits - 1)
}

export function holderOf(word: number): Identity {
  return word & ~(flag.contended | flag.handed)
}
