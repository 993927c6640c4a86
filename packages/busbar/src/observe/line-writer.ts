import type { Writable } from 'node:stream'

export interface LineWriterOptions {
  /** Bytes that are buffered for a slow reader. Default: 1 MiB. */
  readonly limit?: number
  /** Returns the line that reports dropped lines. It is written as soon as there is room. */
  readonly notice: (dropped: number) => string
  /** The stream is a file on a full disk; called once, until there is room again. */
  readonly failed: (error: Error) => void
  /** Returns the first line after that, which says how many lines are missing. */
  readonly missing: (lines: number) => string
}

/** Milliseconds without progress after which a reader counts as stalled. */
const stalledAfter = 1000
/** Milliseconds after a failure until the next attempt. */
const retryInterval = 1000

/**
 * Writes lines to a stream whose reader may be slow, stalled or gone. It never waits, and its
 * memory is bounded: lines without room are dropped and counted. The lines of one tick are one
 * write. A file on a full disk gets lines again when there is room.
 */
export class LineWriter {
  readonly #stream: Writable
  readonly #limit: number
  readonly #options: LineWriterOptions
  #lines: string[] = []
  #waiting = 0
  #dropped = 0
  /** When the reader last made progress, or had nothing to read. */
  #movedAt = 0
  #broken = false
  #failedAt: number | undefined
  /** Lines that a file did not take. */
  #missing = 0

  constructor(stream: Writable, options: LineWriterOptions) {
    this.#stream = stream
    this.#limit = options.limit ?? 1024 * 1024
    this.#options = options
    // EPIPE, or EIO of a closed terminal: a log without a reader must not stop the app. Writes
    // report a full disk themselves.
    stream.on('error', (error) => {
      if (isFull(error)) return
      this.#broken = true
      this.#lines = []
    })
    stream.on('drain', () => this.#reportDropped())
  }

  /** Backpressure: more than a quarter of the buffer is used, and the reader is not stalled. */
  get isBehind(): boolean {
    if (this.#broken || this.#size <= this.#limit / 4) return false
    return performance.now() - this.#movedAt < stalledAfter
  }

  /** `line` ends with a newline. */
  write(line: string): void {
    if (this.#broken) return
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < retryInterval) return void this.#missing++
    if (this.#size + line.length > this.#limit) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0) this.#reportDropped()
    this.#push(line)
  }

  /** Resolves when everything is written, after `timeout` milliseconds at the latest. */
  async flush(timeout: number): Promise<void> {
    this.#reportDropped()
    this.#send()
    if (this.#broken || this.#stream.writableLength === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout)
    this.#stream.write('', () => resolve())
    await promise
    clearTimeout(timer)
  }

  get #size(): number {
    return this.#stream.writableLength + this.#waiting
  }

  #moved(): void {
    this.#movedAt = performance.now()
  }

  #push(line: string): void {
    if (this.#lines.length === 0) queueMicrotask(() => this.#send())
    this.#lines.push(line)
    this.#waiting += line.length
  }

  #send(): void {
    const [lines, missing] = [this.#lines, this.#missing]
    if (lines.length + missing === 0) return
    this.#lines = []
    this.#waiting = 0
    if (this.#broken || !this.#stream.writable) return
    if (this.#stream.writableLength === 0) this.#moved()
    this.#missing = 0
    // A full disk has broken off a line.
    const report = missing === 0 ? '' : `\n${this.#options.missing(missing)}`
    this.#stream.write(report + lines.join(''), (error) => {
      if (error != null) return this.#failed(error, missing + lines.length)
      this.#failedAt = undefined
      this.#moved()
    })
  }

  #failed(error: Error, missing: number): void {
    if (!isFull(error)) return
    this.#missing += missing
    const isNew = this.#failedAt === undefined
    this.#failedAt = performance.now()
    if (isNew) this.#options.failed(error)
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return
    const line = this.#options.notice(this.#dropped)
    this.#dropped = 0
    this.#push(line)
  }
}

function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}
