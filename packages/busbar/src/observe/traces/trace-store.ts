import { isFailedSpan, type SpanRecord } from '../../shared/traces/span.ts'

/** A span, and the worker that has recorded it. */
export interface StoredSpan extends SpanRecord {
  readonly worker: string
}

export interface StoredTrace {
  readonly id: string
  readonly spans: StoredSpan[]
  /** Spans that were not kept. */
  dropped: number
}

/** Of one trace, and of all together. */
const maxSpansOfTrace = 2000
const maxSpans = 20_000

/** Keeps the last traces of an app. The oldest make room. */
export class TraceStore {
  /** In the order of their first spans. */
  readonly #traces = new Map<string, StoredTrace>()
  #size = 0

  /** `keep`: how many traces at most. */
  add(spans: readonly SpanRecord[], worker: string, keep: number): void {
    for (const span of spans) this.#add({ ...span, worker })
    for (const [id, trace] of this.#traces) {
      if (this.#traces.size <= keep && this.#size <= maxSpans) return
      this.#traces.delete(id)
      this.#size -= trace.spans.length
    }
  }

  get(id: string): StoredTrace | undefined {
    return this.#traces.get(id)
  }

  /** The latest first. */
  list({ limit, service, failed }: TraceFilter): StoredTrace[] {
    const found: StoredTrace[] = []
    for (const trace of [...this.#traces.values()].toReversed()) {
      if (found.length >= limit) break
      const fits = service === undefined || trace.spans.some((span) => span.service === service)
      if (fits && (!failed || trace.spans.some(isFailedSpan))) found.push(trace)
    }
    return found
  }

  #add(span: StoredSpan): void {
    let trace = this.#traces.get(span.trace)
    if (trace === undefined) this.#traces.set(span.trace, (trace = { id: span.trace, spans: [], dropped: 0 }))
    if (trace.spans.length >= maxSpansOfTrace) return void trace.dropped++
    trace.spans.push(span)
    this.#size++
  }
}

export interface TraceFilter {
  readonly limit: number
  /** Only traces with a call to it. */
  readonly service?: string | undefined
  /** Only traces with a failed call. */
  readonly failed: boolean
}
