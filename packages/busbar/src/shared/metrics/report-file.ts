import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { InstanceCells } from './instance-cells.ts'
import { rowBytes, type WorkerCells } from './worker-cells.ts'

// Saved before programs can replace them.
const [read, write] = [readSync, writeSync]

/** The file's descriptor in a process, after its standard streams and its channel. */
export const reportDescriptor = 4

/** The row comes first, then the counts. */
const countsAt = rowBytes

/**
 * What a process reports to the supervisor: its row of the worker cells and its call counts, in a
 * file that only these two have open. A process shares no memory, and one that is killed cannot
 * send its last counts. Reading the row takes 3 µs, where a message takes 250.
 */
export class ReportFile {
  readonly descriptor: number

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  /**
   * The file has no name when this returns; it is deleted with its last descriptor. It is in memory
   * where the system has a folder for that: each request of a process writes it, and with a file on
   * ext4 a small request took a seventh more CPU time.
   */
  static create(): ReportFile {
    return new ReportFile((process.platform === 'linux' ? openInMemory() : undefined) ?? openIn(tmpdir()))
  }

  /** False if it cannot be written: the disk is full, or the program has closed the descriptor. */
  writeRow(cells: WorkerCells): boolean {
    return this.#write(cells.copy(), 0)
  }

  /** A full disk loses the last second of counts, not the call. */
  writeCounts({ counts }: InstanceCells): void {
    this.#write(counts, countsAt)
  }

  /** Undefined if the process has not written it. */
  readRow(): Uint32Array | undefined {
    return this.#read(rowBytes / Uint32Array.BYTES_PER_ELEMENT, 0)
  }

  /** Counts only grow by it. */
  readCountsInto({ counts }: InstanceCells): void {
    const written = this.#read(counts.length, countsAt)
    if (written !== undefined) mergeCounts(counts, written)
  }

  close(): void {
    closeSync(this.descriptor)
  }

  #write(cells: Uint32Array, position: number): boolean {
    try {
      return write(this.descriptor, cells, 0, cells.byteLength, position) === cells.byteLength
    } catch {
      return false
    }
  }

  #read(length: number, position: number): Uint32Array | undefined {
    const cells = new Uint32Array(length)
    return read(this.descriptor, cells, 0, cells.byteLength, position) === cells.byteLength ? cells : undefined
  }
}

/** Takes over those of `others` that are higher: counters grow, and wrap. */
export function mergeCounts(counts: Uint32Array, others: Uint32Array): void {
  for (const [at, other] of others.entries()) if (((other - counts[at]!) | 0) > 0) counts[at] = other
}

/** Undefined if there is no such folder, as in some containers, or if it is full or read-only. */
function openInMemory(): number | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openIn('/dev/shm')
    // Shorter than a row, so it is none. The page that the file needs exists from now on.
    write(descriptor, new Uint8Array(1))
    return descriptor
  } catch {
    if (descriptor !== undefined) closeSync(descriptor)
    return undefined
  }
}

function openIn(folder: string): number {
  const path = join(folder, `busbar-report-${randomUUID()}`)
  const descriptor = openSync(path, 'wx+', 0o600)
  rmSync(path)
  return descriptor
}
