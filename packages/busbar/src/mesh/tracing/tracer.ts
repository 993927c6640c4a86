import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import type { SpanRecord } from '../../shared/traces/span.ts'
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from '../../shared/traces/trace-context.ts'
import { type Recording, TracedCall, type TracedCallInfo } from './traced-call.ts'

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
   * A call begins. `from`: the context that caused it; without a valid one, a new trace begins.
   * `edge`: counts the call too. Calls of traces that are not sampled are recorded if they fail.
   */
  call(info: TracedCallInfo, from: Trace | undefined, edge?: CallEdge): TracedCall {
    if (from instanceof TracedCall) return new TracedCall(info, from.root, from, edge, this.#recording)
    const parent = from && parseTraceparent(from.traceparent)
    const root = {
      id: parent?.trace ?? newTraceId(),
      isSampled: parent?.isSampled ?? this.#isSampled(),
      tracestate: from?.tracestate,
      first: undefined,
    }
    return new TracedCall(info, root, parent?.span, edge, this.#recording)
  }

  /** The context of a span that code of a service begins. */
  begin(from: Trace | undefined): { trace: Trace; parent: string | undefined; isSampled: boolean } {
    const parent = from && parseTraceparent(from.traceparent)
    const trace = parent?.trace ?? newTraceId()
    const isSampled = parent?.isSampled ?? this.#isSampled()
    const traceparent = formatTraceparent({ trace, span: newSpanId(), isSampled })
    const state = from?.tracestate
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
