import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
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

  /**
   * The file has no name when this returns; it is deleted with its last descriptor. It is in memory
   * where the system has a folder for that: each request of a process writes it, and with a file on
   * ext4 a small request took a seventh more CPU time.
   */
  static create(): CountsFile {
    return new CountsFile((process.platform === 'linux' ? openInMemory() : undefined) ?? openIn(tmpdir()))
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

/** Undefined if there is no such folder, as in some containers, or if it is full or read-only. */
function openInMemory(): number | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openIn('/dev/shm')
    // Shorter than the counts, so it is none of them. The page that they need exists from now on.
    write(descriptor, new Uint8Array(1))
    return descriptor
  } catch {
    if (descriptor !== undefined) closeSync(descriptor)
    return undefined
  }
}

function openIn(folder: string): number {
  const path = join(folder, `busbar-counts-${randomUUID()}`)
  const descriptor = openSync(path, 'wx+', 0o600)
  rmSync(path)
  return descriptor
}
