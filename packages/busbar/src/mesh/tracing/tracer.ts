import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import { isFailedSpan, maxPath, type SpanRecord } from '../../shared/traces/span.ts'
import {
  newSpanId,
  newTraceId,
  type ParsedTrace,
  parseTraceparent,
  withParent,
} from '../../shared/traces/trace-context.ts'
import type { CountedEdge } from '../meter.ts'

/** Receives the spans that are kept. */
export interface SpanSink {
  add(span: SpanRecord): void
  addOwn(span: OwnSpanRecord): void
}

/** The fields of a span that are known when its call begins. */
export interface TracedCallInfo {
  readonly part: SpanRecord['part']
  readonly caller: string | undefined
  readonly service: string
  readonly protocol: 'http' | 'rpc'
  readonly method: string
  /** Of HTTP, with its query. */
  readonly path?: string | undefined
  readonly transport: Transport | undefined
}

/** Makes the spans of this worker. Without one, nothing is traced. */
export class Tracer {
  readonly #sample: number
  readonly #sink: SpanSink
  #lastFrom: Trace | undefined
  #lastParsed: ParsedTrace | undefined

  /** `sample`: the share of new traces that are recorded, from 0 to 1. */
  constructor(sample: number, sink: SpanSink) {
    this.#sample = sample
    this.#sink = sink
  }

  /**
   * A call begins. `from`: the context that caused it; without a valid one, a new trace begins.
   * `edge`: counts the call too. Calls of traces that are not sampled are recorded if they fail.
   */
  call(info: TracedCallInfo, from: Trace | undefined, edge?: CallEdge): TracedCall {
    const { context, parent } = this.#context(from)
    return new TracedCall(info, { context, parent, from, edge, sink: this.#sink })
  }

  /** The context of a span that code of a service begins. */
  begin(from: Trace | undefined): { trace: Trace; parent: string | undefined; isSampled: boolean } {
    const { context, parent } = this.#context(from)
    return { trace: withParent(from, context), parent, isSampled: context.isSampled }
  }

  /** Such a span has ended. */
  own(span: OwnSpanRecord): void {
    this.#sink.addOwn(span)
  }

  #context(from: Trace | undefined): { context: ParsedTrace; parent: string | undefined } {
    const parent = from && this.#parsed(from)
    const context = {
      trace: parent?.trace ?? newTraceId(),
      span: newSpanId(),
      isSampled: parent?.isSampled ?? Math.random() < this.#sample,
    }
    return { context, parent: parent?.span }
  }

  /** A request often makes several calls in a row. */
  #parsed(from: Trace): ParsedTrace | undefined {
    if (from !== this.#lastFrom) {
      this.#lastFrom = from
      this.#lastParsed = parseTraceparent(from.traceparent)
    }
    return this.#lastParsed
  }
}

interface TracedCallParts {
  readonly context: ParsedTrace
  readonly parent: string | undefined
  readonly from: Trace | undefined
  readonly edge: CallEdge | undefined
  readonly sink: SpanSink
}

/** Counts one call for its edge, and records its span when it ends. */
export class TracedCall implements CountedEdge {
  /** For what the call causes. */
  readonly trace: Trace
  /** Bytes of the bodies. */
  sent = 0
  received = 0
  readonly #info: TracedCallInfo
  readonly #parts: TracedCallParts
  readonly #created = performance.now()
  #queue = 0
  #began: number | undefined
  #isOver = false

  constructor(info: TracedCallInfo, parts: TracedCallParts) {
    this.#info = info
    this.#parts = parts
    this.trace = withParent(parts.from, parts.context)
  }

  get isSampled(): boolean {
    return this.#parts.context.isSampled
  }

  /** Always a number, so the counter of the edge keeps no sample for the next call. */
  begin(): number {
    this.#began = this.#parts.edge?.begin()
    return this.#created
  }

  started(): void {
    this.#queue = performance.now() - this.#created
  }

  end(status: number): void {
    this.#parts.edge?.end(status, this.#began)
    if (this.#isOver) return
    this.#isOver = true
    const { context, parent, sink } = this.#parts
    if (!context.isSampled && !isFailedSpan({ status })) return
    const { part, caller, service, protocol, method, path, transport } = this.#info
    sink.add({
      part,
      trace: context.trace,
      id: context.span,
      parent,
      caller,
      service,
      protocol,
      method,
      path: path && pathOf(path),
      transport,
      start: performance.timeOrigin + this.#created,
      duration: performance.now() - this.#created,
      queue: this.#queue,
      sent: this.sent,
      received: this.received,
      status,
    })
  }

  /** No instance has taken the call. */
  withdraw(): void {
    this.#isOver = true
    ;(this.#parts.edge as CountedEdge | undefined)?.withdraw()
  }
}

/** A query may have secrets. */
function pathOf(target: string): string {
  const query = target.indexOf('?')
  return target.slice(0, query === -1 ? maxPath : Math.min(query, maxPath))
}
