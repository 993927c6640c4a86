/**
 * What every thread may read at any time without asking: one row per worker thread in one SharedArrayBuffer.
 *
 *     row 0 │ heartbeat │ connections closed │ requests in flight │ … padding to 128 bytes │
 *     row 1 │ …
 *
 * A row has one writer, its worker, so plain stores suffice and nothing is ever locked; 128 bytes keep two rows out
 * of one pair of cache lines (measured with 4 threads: own cells 0.02 s for 50 million increments, shared lines 0.78 s).
 * Cells are unsigned 32-bit, which a store cannot tear; counters wrap and are compared by difference.
 */
const rowBytes = 128
const rowCells = rowBytes / Uint32Array.BYTES_PER_ELEMENT

const cell = { heartbeat: 0, closed: 1, inFlight: 2 } as const

export function createCells(rows: number): SharedArrayBuffer {
  return new SharedArrayBuffer(rows * rowBytes)
}

/**
 * Milliseconds of a clock that all threads of this process share and nobody sets back: `performance.now()` starts at
 * zero in each thread, `Date.now()` jumps when the system's time is set.
 */
export function threadsNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** The row of one worker, as that worker writes it and anyone reads it. */
export class WorkerCells {
  readonly #row: Uint32Array

  constructor(memory: SharedArrayBuffer, row: number) {
    this.#row = new Uint32Array(memory, row * rowBytes, rowCells)
  }

  /** Says that the event loop turns. `now` is {@link threadsNow}. */
  beat(now: number): void {
    this.#row[cell.heartbeat] = now >>> 0
  }

  /** Milliseconds since the last beat; only differences mean anything, so the 32-bit wrap (49 days) does no harm. */
  age(now: number): number {
    return ((now >>> 0) - this.#row[cell.heartbeat]!) >>> 0
  }

  /** Connections this worker was handed and has seen close; wraps. */
  get closed(): number {
    return this.#row[cell.closed]!
  }

  countClosed(): void {
    this.#row[cell.closed] = this.#row[cell.closed]! + 1
  }

  get inFlight(): number {
    return this.#row[cell.inFlight]!
  }

  addInFlight(by: 1 | -1): void {
    this.#row[cell.inFlight] = this.#row[cell.inFlight]! + by
  }

  /** Only before a row gets a new worker. */
  clear(): void {
    this.#row.fill(0)
  }
}
