import type { Writable } from 'node:stream'

export interface OutletOptions {
  /** Bytes that may wait for a slow reader. Default 1 MiB. */
  readonly limit?: number
  /** Makes the line that says how many lines were dropped; written as soon as there is room again. */
  readonly notice: (dropped: number) => string
}

/** Milliseconds without any progress, after which a reader counts as one that has stopped. */
const patience = 1000

/**
 * Writes lines to a stream whose reader may be slow, blocked or gone, without ever waiting and in bounded memory: what
 * finds no room is dropped and counted. Lines of one turn leave in one write.
 */
export class Outlet {
  readonly #stream: Writable
  readonly #limit: number
  readonly #notice: (dropped: number) => string
  #lines: string[] = []
  #waiting = 0
  #dropped = 0
  /** When the reader last took something, or had nothing to take. */
  #movedAt = 0
  #broken = false

  constructor(stream: Writable, options: OutletOptions) {
    this.#stream = stream
    this.#limit = options.limit ?? 1024 * 1024
    this.#notice = options.notice
    // EPIPE, or EIO of a terminal that was closed: nobody reads any more, which is no reason to stop serving.
    stream.on('error', () => {
      this.#broken = true
      this.#lines = []
    })
    stream.on('drain', () => this.#sayDropped())
  }

  /** More than a quarter of the room is taken, and the reader still reads: it would be a pity to drop lines. */
  get isBehind(): boolean {
    if (this.#broken || this.#size <= this.#limit / 4) return false
    return performance.now() - this.#movedAt < patience
  }

  /** `line` ends with its newline. */
  write(line: string): void {
    if (this.#broken) return
    if (this.#size + line.length > this.#limit) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0) this.#sayDropped()
    this.#push(line)
  }

  /** Resolves when everything has left, at the latest after `timeout` milliseconds. */
  async flush(timeout: number): Promise<void> {
    this.#sayDropped()
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
    if (this.#lines.length === 0) return
    const text = this.#lines.join('')
    this.#lines = []
    this.#waiting = 0
    if (this.#broken || !this.#stream.writable) return
    if (this.#stream.writableLength === 0) this.#moved()
    this.#stream.write(text, () => this.#moved())
  }

  #sayDropped(): void {
    if (this.#dropped === 0) return
    const line = this.#notice(this.#dropped)
    this.#dropped = 0
    this.#push(line)
  }
}
