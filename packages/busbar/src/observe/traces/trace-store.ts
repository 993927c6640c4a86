import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import { isFailedSpan, type SpanRecord } from '../../shared/traces/span.ts'

/** A span, and the worker that has recorded it. */
export interface StoredSpan extends SpanRecord {
  readonly worker: string
}

export interface StoredOwnSpan extends OwnSpanRecord {
  readonly worker: string
}

export interface StoredTrace {
  readonly id: string
  readonly spans: StoredSpan[]
  /** Those that services have made themselves. */
  readonly own: StoredOwnSpan[]
  /** Spans that were not kept. */
  dropped: number
}

/** The most spans that are kept of one trace, and of all traces together. */
const maxSpansOfTrace = 2000
const maxSpans = 20_000

/** Keeps the latest traces of an app. Drops the oldest when there are too many. */
export class TraceStore {
  /** In the order of their first spans. */
  readonly #traces = new Map<string, StoredTrace>()
  #size = 0

  /** `keep`: how many traces at most. */
  add(spans: readonly SpanRecord[], own: readonly OwnSpanRecord[], worker: string, keep: number): void {
    for (const span of spans) this.#add(span.trace, (trace) => trace.spans.push({ ...span, worker }))
    for (const span of own) this.#add(span.trace, (trace) => trace.own.push({ ...span, worker }))
    for (const [id, trace] of this.#traces) {
      if (this.#traces.size <= keep && this.#size <= maxSpans) return
      this.#traces.delete(id)
      this.#size -= sizeOf(trace)
    }
  }

  get(id: string): StoredTrace | undefined {
    const trace = this.#traces.get(id)
    return trace !== undefined && trace.spans.length > 0 ? trace : undefined
  }

  /** The latest first. */
  list({ limit, service, failed }: TraceFilter): StoredTrace[] {
    const found: StoredTrace[] = []
    for (const trace of [...this.#traces.values()].toReversed()) {
      if (found.length >= limit) break
      // A trace of nothing but own spans has no call to show: its calls may not have ended yet.
      if (trace.spans.length === 0) continue
      const fits = service === undefined || trace.spans.some((span) => span.service === service)
      if (fits && (!failed || trace.spans.some(isFailedSpan))) found.push(trace)
    }
    return found
  }

  /**
   * The average bytes of a call, of request and response, by `caller callee`. Typed calls are left
   * out, because their bytes are not counted.
   */
  bytesByPair(): Map<string, number> {
    const sums = new Map<string, { calls: number; bytes: number }>()
    for (const { spans } of this.#traces.values())
      for (const { part, protocol, caller = '', service, sent, received } of spans) {
        if (part !== 'call' || protocol !== 'http') continue
        const sum = sums.get(`${caller} ${service}`) ?? { calls: 0, bytes: 0 }
        sums.set(`${caller} ${service}`, sum)
        sum.calls++
        sum.bytes += sent + received
      }
    return new Map([...sums].map(([pair, { calls, bytes }]) => [pair, bytes / calls]))
  }

  #add(id: string, push: (trace: StoredTrace) => void): void {
    let trace = this.#traces.get(id)
    if (trace === undefined) this.#traces.set(id, (trace = { id, spans: [], own: [], dropped: 0 }))
    if (sizeOf(trace) >= maxSpansOfTrace) return void trace.dropped++
    push(trace)
    this.#size++
  }
}

function sizeOf({ spans, own }: StoredTrace): number {
  return spans.length + own.length
}

export interface TraceFilter {
  readonly limit: number
  /** Only traces with a call to it. */
  readonly service?: string | undefined
  /** Only traces with a failed call. */
  readonly failed: boolean
}
