import type { SpanSink } from '../../mesh/tracing/tracer.ts'
import type { SpanRecord } from '../../shared/traces/span.ts'
import type { Outbox } from './outbox.ts'

/** Milliseconds that a span waits for others. */
const interval = 100
/** So many are sent without waiting. */
const batchSize = 500

/** Sends the spans of this worker to the supervisor, in batches. */
export class SpanSender implements SpanSink {
  readonly #outbox: Outbox
  #spans: SpanRecord[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  add(span: SpanRecord): void {
    this.#spans.push(span)
    if (this.#spans.length >= batchSize) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), interval).unref()
  }

  /** The worker may be about to end. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#spans.length === 0) return
    const spans = this.#spans
    this.#spans = []
    this.#outbox.post({ type: 'spans', spans })
  }
}
