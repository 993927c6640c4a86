/**
 * Vital signs of all workers, readable by every thread at any time: one row per worker thread in a
 * SharedArrayBuffer.
 *
 *     row 0 │ heartbeat │ connections closed │ requests in flight │ busy ‰ │ heap KiB │ … 640 bytes │
 *     row 1 │ …
 *
 * Each row has one writer, its worker, so plain stores suffice and nothing is locked. Multiples of
 * 128 bytes keep two rows out of one pair of cache lines (4 threads, 50 million increments: 0.02 s
 * with separate lines, 0.78 s with shared ones). Cells are unsigned 32-bit, so a store cannot tear.
 * Counters wrap and are compared by difference.
 *
 * The other counters are in `instance-table.ts`: one block for each row, with the counts per
 * service and the edges (`edge-table.ts`).
 */
import { readRuntime, type RuntimeStats, writeRuntime } from './runtime-cells.ts'

export const rowBytes = 640
const rowCells = rowBytes / Uint32Array.BYTES_PER_ELEMENT

/** Where the part of `runtime-cells.ts` begins. */
const runtimeAt = 32

const cell = {
  heartbeat: 0,
  closed: 1,
  inFlight: 2,
  busy: 3,
  heap: 4,
  memory: 5,
  cpu: 6,
  thread: 7,
  delay: 8,
  gc: 9,
} as const

/** What a worker reports about itself, about once a second. */
export interface Vitals {
  /** Event loop utilisation, 0 to 1. */
  readonly utilization: number
  /** Bytes of the JavaScript heap. */
  readonly heapUsed: number
  /** In bytes: the whole memory of a process; the heap and external memory of a thread. */
  readonly memory: number
  /** CPU time since its start in milliseconds; wraps. */
  readonly cpu: number
  /** The longest delay of its event loop since the last report, in milliseconds. */
  readonly delay: number
  /** Time of garbage collection since its start in milliseconds. */
  readonly gc: number
}

export function createCells(rows: number): SharedArrayBuffer {
  return new SharedArrayBuffer(rows * rowBytes)
}

export function rowsOf(memory: SharedArrayBuffer): number {
  return memory.byteLength / rowBytes
}

/**
 * Milliseconds of a monotonic clock that all threads of this process share: `performance.now()`
 * starts at zero in each thread, and `Date.now()` jumps when the system time is set.
 */
export function threadsNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** The heartbeat in a copy of a row; only differences matter. */
export function beatOf(row: Uint32Array): number {
  return row[cell.heartbeat]!
}

/** The row of one worker, written by that worker and read by anyone. */
export class WorkerCells {
  readonly #row: Uint32Array

  constructor(memory: SharedArrayBuffer, row: number) {
    this.#row = new Uint32Array(memory, row * rowBytes, rowCells)
  }

  /** Writes a heartbeat from the event loop. `now` is {@link threadsNow}. */
  beat(now: number): void {
    this.#row[cell.heartbeat] = now >>> 0
  }

  /**
   * Milliseconds since the last heartbeat. Only differences matter, so the 32-bit wrap (49 days)
   * does no harm. 0 for a heartbeat later than `now`: the reader may have been descheduled after it
   * read the clock, and without this a healthy worker would seem stuck for 49 days.
   */
  age(now: number): number {
    return Math.max(0, ((now >>> 0) - this.#row[cell.heartbeat]!) | 0)
  }

  /** Connections that this worker was given and that have closed; wraps. */
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

  /** The time of the last heartbeat, of {@link threadsNow}; only differences matter. */
  get lastBeat(): number {
    return this.#row[cell.heartbeat]!
  }

  get vitals(): Vitals {
    const row = this.#row
    return {
      utilization: row[cell.busy]! / 1000,
      heapUsed: row[cell.heap]! * 1024,
      memory: row[cell.memory]! * 1024,
      cpu: row[cell.cpu]!,
      delay: row[cell.delay]! / 1000,
      gc: row[cell.gc]! / 10,
    }
  }

  set vitals({ utilization, heapUsed, memory, cpu, delay, gc }: Vitals) {
    const row = this.#row
    row[cell.busy] = Math.round(utilization * 1000)
    row[cell.heap] = heapUsed / 1024
    row[cell.memory] = memory / 1024
    row[cell.cpu] = Math.round(cpu)
    row[cell.delay] = Math.round(delay * 1000)
    row[cell.gc] = Math.round(gc * 10)
  }

  /** Null: it has not reported yet. */
  get runtime(): RuntimeStats | null {
    return readRuntime(this.#row.subarray(runtimeAt))
  }

  set runtime(stats: RuntimeStats) {
    writeRuntime(this.#row.subarray(runtimeAt), stats)
  }

  /** Event loop utilisation, 0 to 1. */
  get utilization(): number {
    return this.#row[cell.busy]! / 1000
  }

  /**
   * The operating system's id of the thread, by which its CPU time can be read even while it is
   * blocked; 0 if unknown.
   */
  get threadId(): number {
    return this.#row[cell.thread]!
  }

  set threadId(id: number) {
    this.#row[cell.thread] = id
  }

  /** A copy, for a worker without shared memory to send. */
  copy(): Uint32Array {
    return this.#row.slice()
  }

  /** Stores what a process has sent. */
  set(row: Uint32Array): void {
    this.#row.set(row.subarray(0, rowCells))
  }

  /** Only before a row gets a new worker. */
  clear(): void {
    this.#row.fill(0)
  }
}
