import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LogFiles } from '../../config/app.ts'
import { OldFiles } from './old-files.ts'

export interface LogFileParts {
  readonly settings: LogFiles
  /** The file cannot be written; called once, until it can again. */
  readonly failed: (error: Error) => void
  /** These lines could not be written. */
  readonly lost: (lines: readonly string[]) => void
  /** Returns the first line after a failure, which says how many lines are missing. */
  readonly missing: (lines: number) => string
}

/** Milliseconds between two looks at the path, and after a failure until the next attempt. */
const lookInterval = 1000

const newline = 0x0a

/** An open `app.log`. */
interface Open {
  readonly descriptor: number
  readonly inode: number
  /** Milliseconds since 1970. */
  readonly begun: number
  size: number
}

/**
 * Appends lines to `app.log`, and rotates it by size and age.
 *
 * The lines of one tick are one `write`, which is synchronous: when it returns, the operating
 * system has the lines, and they survive every end of this process. It appends, so that several
 * processes may write the file: the others notice a rotation by the changed inode.
 */
export class LogFile {
  readonly #parts: LogFileParts
  readonly #path: string
  readonly #old: OldFiles
  readonly #onExit = (): void => this.flush()
  #file: Open | undefined
  #lines: string[] = []
  #lookedAt = -Infinity
  #failedAt: number | undefined
  #missing = 0
  /** Whole lines of this flush that the file has. */
  #appended = 0

  constructor(parts: LogFileParts) {
    this.#parts = parts
    this.#path = join(parts.settings.folder, 'app.log')
    this.#old = new OldFiles(parts.settings)
    process.on('exit', this.#onExit)
  }

  /** `line` ends with a newline. */
  write(line: string): void {
    if (this.#lines.length === 0) queueMicrotask(() => this.flush())
    this.#lines.push(line)
  }

  /** Writes what the current tick has collected. */
  flush(): void {
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < lookInterval) return this.#lose(lines)
    this.#appended = 0
    try {
      this.#look()
      if (this.#missing > 0) this.#append([this.#parts.missing(this.#missing)])
      this.#missing = 0
      this.#failedAt = undefined
      this.#appended = 0
      for (const part of this.#partsOf(lines)) this.#append(part)
    } catch (error) {
      this.#fail(error as Error, lines.slice(this.#appended))
    }
  }

  async close(): Promise<void> {
    process.off('exit', this.#onExit)
    this.flush()
    this.#close()
    await this.#old.close()
  }

  /** Divides lines where the file is to be rotated, and rotates it there. */
  *#partsOf(lines: readonly string[]): Generator<string[]> {
    let part: string[] = []
    let size = 0
    for (const line of lines) {
      const bytes = Buffer.byteLength(line)
      if (this.#file!.size + size + bytes > this.#parts.settings.maxSize && this.#file!.size + size > 0) {
        yield part
        this.#rotate()
        part = []
        size = 0
      }
      part.push(line)
      size += bytes
    }
    yield part
  }

  #append(lines: readonly string[]): void {
    const bytes = Buffer.from(lines.join(''))
    let at = 0
    try {
      while (at < bytes.length) at += writeSync(this.#file!.descriptor, bytes, at)
    } finally {
      this.#file!.size += at
      // A disk that becomes full takes some of the lines, and a part of the next one.
      this.#appended += at === bytes.length ? lines.length : linesIn(bytes.subarray(0, at))
    }
  }

  /**
   * Opens the file, again after another process has moved it, and rotates it when it is too old.
   */
  #look(): void {
    const now = performance.now()
    if (this.#file !== undefined && now - this.#lookedAt < lookInterval) return
    this.#lookedAt = now
    if (this.#file !== undefined && !this.#isInPlace(this.#file)) this.#close()
    this.#file ??= this.#open()
    if (this.#file.size > 0 && Date.now() - this.#file.begun > this.#parts.settings.maxAge) this.#rotate()
  }

  #open(): Open {
    mkdirSync(this.#parts.settings.folder, { recursive: true, mode: 0o700 })
    const descriptor = openSync(this.#path, 'a+', 0o600)
    try {
      endLine(descriptor)
      const { ino, size, birthtimeMs, ctimeMs } = fstatSync(descriptor)
      // Not every file system knows when a file was created.
      return { descriptor, inode: ino, size, begun: size === 0 ? Date.now() : birthtimeMs || ctimeMs }
    } catch (error) {
      // A full disk has no room for the end of a line either.
      closeSync(descriptor)
      throw error
    }
  }

  #isInPlace({ inode }: Open): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === inode
  }

  #rotate(): void {
    const isInPlace = this.#isInPlace(this.#file!)
    this.#close()
    if (isInPlace) renameSync(this.#path, this.#old.nextPath())
    this.#file = this.#open()
    this.#old.tidy()
  }

  #close(): void {
    const file = this.#file
    // Its number may soon be that of another file, even if closing it fails.
    this.#file = undefined
    if (file !== undefined) closeSync(file.descriptor)
  }

  #fail(error: Error, lines: readonly string[]): void {
    if (this.#failedAt === undefined) this.#parts.failed(error)
    this.#failedAt = performance.now()
    try {
      this.#close()
    } catch {
      // The descriptor is closed even so.
    }
    this.#lose(lines)
  }

  #lose(lines: readonly string[]): void {
    this.#missing += lines.length
    this.#parts.lost(lines)
  }
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (const byte of bytes) if (byte === newline) lines++
  return lines
}

/** A full disk, or SIGKILL, may have broken off a line: the next one must not be appended to it. */
function endLine(descriptor: number): void {
  const last = Buffer.alloc(1)
  const { size } = fstatSync(descriptor)
  if (size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== newline) writeSync(descriptor, '\n')
}
