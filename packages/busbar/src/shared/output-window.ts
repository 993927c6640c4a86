import type { LogRecord } from './control.ts'

/** Bytes of output that one thread may have sent and the supervisor has not read. */
const windowSize = 512 * 1024

/** What a record takes besides its line, roughly. */
const recordOverhead = 128

/** What a record counts for in the window. */
export function costOf({ line }: LogRecord): number {
  return line.length + recordOverhead
}

/**
 * Backpressure between a thread and the supervisor. A message port takes whatever is posted, so the thread counts what it has
 * sent, and the supervisor writes into shared memory how much of that it has read. The counter wraps at 32 bits.
 */
export class OutputWindow {
  readonly memory: SharedArrayBuffer
  readonly #read: Int32Array
  #sent = 0

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#read = new Int32Array(memory)
  }

  // The thread's side

  /** Whether `cost` more may be sent now. Something always may when all that was sent has been read. */
  fits(cost: number): boolean {
    return this.#fitsBeside(this.#unread(Atomics.load(this.#read, 0)), cost)
  }

  /** Blocks this thread until `cost` more may be sent, as a write to a full pipe does. */
  wait(cost: number): void {
    for (;;) {
      const read = Atomics.load(this.#read, 0)
      if (this.#fitsBeside(this.#unread(read), cost)) return
      Atomics.wait(this.#read, 0, read)
    }
  }

  sent(cost: number): void {
    this.#sent = (this.#sent + cost) | 0
  }

  // The supervisor's side

  read(cost: number): void {
    Atomics.add(this.#read, 0, cost)
    Atomics.notify(this.#read, 0)
  }

  #unread(read: number): number {
    return (this.#sent - read) | 0
  }

  #fitsBeside(unread: number, cost: number): boolean {
    return unread <= 0 || unread + cost <= windowSize
  }
}
