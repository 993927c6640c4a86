import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { InstanceCells } from './instances.ts'

// As they were before programs put their own in their place.
const [read, write] = [readSync, writeSync]

/** The descriptor that a process has it at, behind its standard streams and its channel. */
export const countsDescriptor = 4

/**
 * What a process has counted of its service's calls, in a file that only this process and the supervisor have open. A process
 * that is killed cannot report any more, and memory is not shared with it.
 */
export class CountsFile {
  readonly descriptor: number

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  /** The file has no name any more when this returns: it is gone with its last descriptor. */
  static create(path: string): CountsFile {
    const descriptor = openSync(path, 'wx+', 0o600)
    rmSync(path)
    return new CountsFile(descriptor)
  }

  write({ counts }: InstanceCells): void {
    try {
      write(this.descriptor, counts, 0, counts.byteLength, 0)
    } catch {
      // A full disk costs the last second of the counts, not the call.
    }
  }

  /** Leaves `cells` as they are where the process has not written any. */
  readInto({ counts }: InstanceCells): void {
    const written = new Uint32Array(counts.length)
    if (read(this.descriptor, written, 0, written.byteLength, 0) === written.byteLength) counts.set(written)
  }

  close(): void {
    closeSync(this.descriptor)
  }
}
