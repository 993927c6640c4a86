import type { LogRecord } from '../control-messages.ts'

/** Bytes of output that one thread may have sent and the supervisor not yet read. */
const windowSize = 512 * 1024

/** The approximate size of a record besides its line. */
const recordOverhead = 128

/** How much of the window a record takes. */
export function costOf({ line }: LogRecord): number {
  return line.length + recordOverhead
}

/**
 * Backpressure between a thread and the supervisor. A message port accepts everything, so the
 * thread counts what it has sent, and the supervisor writes to shared memory how much of it has
 * been read. The counter wraps at 32 bits.
 */
export class OutputWindow {
  readonly memory: SharedArrayBuffer
  readonly #read: Int32Array
  #sent = 0

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#read = new Int32Array(memory)
  }

  // Called by the thread

  /** Whether `cost` more may be sent. Always true if everything sent has been read. */
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

  // Called by the supervisor

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
