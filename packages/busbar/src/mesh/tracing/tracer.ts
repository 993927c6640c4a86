import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import type { OwnSpanRecord } from '../../shared/traces/own-span.ts'
import { isFailedSpan, maxPath, type SpanRecord } from '../../shared/traces/span.ts'
import { newSpanId, newTraceId, type ParsedTrace, parsedTrace, withParent } from '../../shared/traces/trace-context.ts'
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
    const parent = from && parsedTrace(from)
    return new TracedCall(info, this.#under(parent), parent?.span, from, edge, this.#sink)
  }

  /** The context of a span that code of a service begins. */
  begin(from: Trace | undefined): { trace: Trace; parent: string | undefined; isSampled: boolean } {
    const parent = from && parsedTrace(from)
    const context = this.#under(parent)
    return { trace: withParent(from, context), parent: parent?.span, isSampled: context.isSampled }
  }

  /** A span that code of a service has begun has ended. */
  own(span: OwnSpanRecord): void {
    this.#sink.addOwn(span)
  }

  #under(parent: ParsedTrace | undefined): ParsedTrace {
    return parent === undefined
      ? { trace: newTraceId(), span: newSpanId(), isSampled: Math.random() < this.#sample }
      : { trace: parent.trace, span: newSpanId(), isSampled: parent.isSampled }
  }
}

/** Counts one call for its edge, and records its span when it ends. */
export class TracedCall implements CountedEdge {
  /** The context of the calls that this one causes. */
  readonly trace: Trace
  /** Bytes of the bodies. */
  sent = 0
  received = 0
  readonly #info: TracedCallInfo
  readonly #context: ParsedTrace
  readonly #parent: string | undefined
  readonly #edge: CallEdge | undefined
  readonly #sink: SpanSink
  readonly #created = performance.now()
  #queue = 0
  #began: number | undefined
  #isOver = false

  /** `from`: the caller's context, whose `tracestate` is passed on. */
  constructor(
    info: TracedCallInfo,
    context: ParsedTrace,
    parent: string | undefined,
    from: Trace | undefined,
    edge: CallEdge | undefined,
    sink: SpanSink,
  ) {
    this.#info = info
    this.#context = context
    this.#parent = parent
    this.#edge = edge
    this.#sink = sink
    this.trace = withParent(from, context)
  }

  get isSampled(): boolean {
    return this.#context.isSampled
  }

  /** Always a number, so the counter of the edge keeps no sample for the next call. */
  begin(): number {
    this.#began = this.#edge?.begin()
    return this.#created
  }

  started(): void {
    this.#queue = performance.now() - this.#created
  }

  end(status: number): void {
    this.#edge?.end(status, this.#began)
    if (this.#isOver) return
    this.#isOver = true
    const context = this.#context
    if (!context.isSampled && !isFailedSpan({ status })) return
    const { part, caller, service, protocol, method, path, transport } = this.#info
    this.#sink.add({
      part,
      trace: context.trace,
      id: context.span,
      parent: this.#parent,
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
    ;(this.#edge as CountedEdge | undefined)?.withdraw()
  }
}

/** A query may have secrets. */
function pathOf(target: string): string {
  const query = target.indexOf('?')
  return target.slice(0, query === -1 ? maxPath : Math.min(query, maxPath))
}
