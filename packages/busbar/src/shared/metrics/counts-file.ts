import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { InstanceCells } from './instance-table.ts'

// Saved before programs can replace them.
const [read, write] = [readSync, writeSync]

/** The file's descriptor in a process, after its standard streams and its channel. */
export const countsDescriptor = 4

/**
 * The call counts of a process, in a file that only this process and the supervisor have open. A
 * process that is killed cannot report any more, and it shares no memory.
 */
export class CountsFile {
  readonly descriptor: number

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  /** The file has no name when this returns; it is deleted with its last descriptor. */
  static create(path: string): CountsFile {
    const descriptor = openSync(path, 'wx+', 0o600)
    rmSync(path)
    return new CountsFile(descriptor)
  }

  write({ counts }: InstanceCells): void {
    try {
      write(this.descriptor, counts, 0, counts.byteLength, 0)
    } catch {
      // A full disk loses the last second of counts, not the call.
    }
  }

  /** Leaves `cells` unchanged if the process has not written any. */
  readInto({ counts }: InstanceCells): void {
    const written = new Uint32Array(counts.length)
    if (read(this.descriptor, written, 0, written.byteLength, 0) === written.byteLength) counts.set(written)
  }

  close(): void {
    closeSync(this.descriptor)
  }
}
