import type { FromWorker, LogRecord } from '../../../shared/control-messages.ts'
import { costOf } from '../../../shared/output/output-window.ts'
import type { OutputScheduler, OutputSource } from './output-scheduler.ts'

export interface MessageOutputParts {
  readonly scheduler: OutputScheduler
  readonly message: (message: FromWorker) => void
  /** `size` bytes have been read, and the worker may send as many again. */
  readonly read: (size: number) => void
}

/** Bytes per read. */
const chunkSize = 8 * 1024

/** Messages about an exit: all earlier lines are read before them. */
const last: ReadonlySet<FromWorker['type']> = new Set(['fault', 'failed', 'stopped'])

/**
 * Queues log lines that a worker sent as messages, bounded by the worker's window. Other messages
 * are passed on at once.
 */
export class MessageOutput implements OutputSource {
  readonly #parts: MessageOutputParts
  readonly #batches: LogRecord[][] = []
  /** The number of lines of the first batch that have been read. */
  #position = 0

  constructor(parts: MessageOutputParts) {
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

  /** Reads all queued lines, out of turn. */
  drain(): void {
    while (this.read());
  }
}
