/** Cells of the two ends are in different cache lines. */
const cellDistance = 16

/** One end of a link between two threads. */
export interface BegunCallsAccess {
  readonly memory: SharedArrayBuffer
  readonly end: 0 | 1
}

/** For the two ends of a new link. */
export function newBegunCalls(): readonly [BegunCallsAccess, BegunCallsAccess] {
  const memory = new SharedArrayBuffer(2 * cellDistance * Uint32Array.BYTES_PER_ELEMENT)
  return [
    { memory, end: 0 },
    { memory, end: 1 },
  ]
}

/**
 * Which calls of a link between two threads have begun, for when one of them has ended: a port that
 * closes does not say what was read. Each thread writes its own cell, by a plain store before it
 * handles a call. What a thread has stored is visible to who has learnt that it ended.
 */
export class BegunCalls {
  readonly #cells: Uint32Array
  readonly #own: number
  readonly #peers: number

  constructor({ memory, end }: BegunCallsAccess) {
    this.#cells = new Uint32Array(memory)
    this.#own = end * cellDistance
    this.#peers = (1 - end) * cellDistance
  }

  /** This thread begins the peer's call with this number, and has begun all before it. */
  begin(call: number): void {
    this.#cells[this.#own] = call
  }

  /**
   * The last of this thread's calls that the peer has begun. Only final if the peer's thread has
   * ended. `sent`: the last one that was sent; a cell has the lower 32 bits of a number.
   */
  lastBegun(sent: number): number {
    return sent - ((sent - this.#cells[this.#peers]!) >>> 0)
  }
}
