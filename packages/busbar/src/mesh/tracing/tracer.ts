import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import type { SpanKind, SpanRecord } from '../../shared/traces/span.ts'
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from '../../shared/traces/trace-context.ts'
import { type Recording, TracedCall } from './traced-call.ts'

/** Receives the spans that are kept. */
export interface SpanSink {
  add(span: SpanRecord): void
  addOwn(span: OwnSpanRecord): void
}

export interface TracerOptions {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly sample: number
  /** Milliseconds. Slower calls are recorded always. Default: none. */
  readonly slow?: number | undefined
}

/** Makes the spans of this worker. Without one, nothing is traced. */
export class Tracer {
  readonly #sample: number
  readonly #sink: SpanSink
  readonly #recording: Recording

  constructor({ sample, slow = Infinity }: TracerOptions, sink: SpanSink) {
    this.#sample = sample
    this.#sink = sink
    this.#recording = { add: (span) => sink.add(span), slow }
  }

  /**
   * A call begins. `path`: of HTTP, with its query. `from`: the context that caused it; without a
   * valid one, a new trace begins. `edge`: counts the call too. A call of a trace that is not
   * sampled is recorded if it fails.
   */
  call(kind: SpanKind, path: string | undefined, from: Trace | undefined, edge?: CallEdge): TracedCall {
    if (from instanceof TracedCall) return new TracedCall(kind, path, from.root, from, edge)
    const parent = from && parseTraceparent(from.traceparent)
    const root = {
      id: parent?.trace ?? newTraceId(),
      isSampled: parent?.isSampled ?? this.#isSampled(),
      // The state of a context that is not valid ends with it.
      tracestate: parent && from?.tracestate,
      recording: this.#recording,
      first: undefined,
    }
    return new TracedCall(kind, path, root, parent?.span, edge)
  }

  /** The context of a span that code of a service begins. */
  begin(from: Trace | undefined): { trace: Trace; parent: string | undefined; isSampled: boolean } {
    const parent = from && parseTraceparent(from.traceparent)
    const trace = parent?.trace ?? newTraceId()
    const isSampled = parent?.isSampled ?? this.#isSampled()
    const traceparent = formatTraceparent({ trace, span: newSpanId(), isSampled })
    const state = parent && from?.tracestate
    return {
      trace: state === undefined ? { traceparent } : { traceparent, tracestate: state },
      parent: parent?.span,
      isSampled,
    }
  }

  /** A span that code of a service has begun has ended. */
  own(span: OwnSpanRecord): void {
    this.#sink.addOwn(span)
  }

  #isSampled(): boolean {
    return Math.random() < this.#sample
  }
}
