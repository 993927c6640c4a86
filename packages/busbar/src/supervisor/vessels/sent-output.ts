import type { FromWorker, LogRecord } from '../../shared/control.ts'
import { costOf } from '../../shared/output-window.ts'
import type { OutputScheduler, OutputSource } from './output-scheduler.ts'

export interface SentOutputParts {
  readonly scheduler: OutputScheduler
  readonly message: (message: FromWorker) => void
  /** So much has been read, and as much may be sent. */
  readonly read: (size: number) => void
}

/** Bytes that are read in one go. */
const chunkSize = 8 * 1024

/** These explain an end, or come last: the lines before them are read first. */
const last: ReadonlySet<FromWorker['type']> = new Set(['fault', 'failed', 'stopped'])

/** Lines that a worker has sent as messages wait here for their turn; the worker's window bounds them. Others pass. */
export class SentOutput implements OutputSource {
  readonly #parts: SentOutputParts
  readonly #batches: LogRecord[][] = []
  /** Lines of the first batch that have been read. */
  #position = 0

  constructor(parts: SentOutputParts) {
    this.#parts = parts
  }

  message(message: FromWorker): void {
    if (message.type === 'log') {
      this.#batches.push(message.records)
      return this.#parts.scheduler.ready(this)
    }
    if (last.has(message.type)) this.drain()
    this.#parts.message(message)
  }

  read(): boolean {
    const [batch] = this.#batches
    if (batch === undefined) return false
    const start = this.#position
    let size = 0
    while (this.#position < batch.length && size < chunkSize) size += costOf(batch[this.#position++]!)
    const records = batch.slice(start, this.#position)
    if (this.#position === batch.length) {
      this.#batches.shift()
      this.#position = 0
    }
    this.#parts.read(size)
    this.#parts.message({ type: 'log', records })
    return this.#batches.length > 0
  }

  /** Reads all that waits, out of turn. */
  drain(): void {
    while (this.read());
  }
}
