import type { SpanSink } from '../../mesh/tracing/tracer.ts'
import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import type { SpanRecord } from '../../shared/traces/span.ts'
import type { Outbox } from './outbox.ts'

/** Milliseconds that a span waits for others. */
const interval = 100
/** A batch of this many spans is sent without waiting. */
const batchSize = 500

/** Sends the spans of this worker to the supervisor, in batches. */
export class SpanSender implements SpanSink {
  readonly #outbox: Outbox
  #spans: SpanRecord[] = []
  #own: OwnSpanRecord[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  add(span: SpanRecord): void {
    this.#spans.push(span)
    this.#added()
  }

  addOwn(span: OwnSpanRecord): void {
    this.#own.push(span)
    this.#added()
  }

  /** Sends the spans that wait, because the worker may be about to end. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const [spans, own] = [this.#spans, this.#own]
    if (spans.length + own.length === 0) return
    this.#spans = []
    this.#own = []
    this.#outbox.post({ type: 'spans', spans, own })
  }

  #added(): void {
    if (this.#spans.length + this.#own.length >= batchSize) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), interval).unref()
  }
}
