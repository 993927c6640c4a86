import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import { isFailedSpan, maxPath, type SpanRecord } from '../../shared/traces/span.ts'
import { formatTraceparent, newSpanId } from '../../shared/traces/trace-context.ts'
import type { CountedEdge } from '../meter.ts'

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

/** What the calls of one trace share in this thread. */
export interface TraceRoot {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly isSampled: boolean
  readonly tracestate: string | undefined
  /** The call with which it has come to this thread. */
  first: TracedCall | undefined
}

/** Which spans are recorded, and where. */
export interface Recording {
  readonly add: (span: SpanRecord) => void
  /** Milliseconds. Slower calls are recorded, sampled or not. */
  readonly slow: number
}

/**
 * Counts one call for its edge, and records its span when it ends. It is also the context of the
 * calls that this one causes.
 *
 * Most calls are of traces that are not sampled, and succeed. Their ids and texts are made only if
 * something reads them, which is why the context is not a plain object: copy its fields.
 */
export class TracedCall implements CountedEdge, Trace {
  declare readonly tracestate?: string
  readonly root: TraceRoot
  /** Bytes of the bodies. */
  sent = 0
  received = 0
  readonly #info: TracedCallInfo
  /** What has caused it: a call of this thread, or the id of another span. */
  readonly #cause: TracedCall | string | undefined
  readonly #edge: CallEdge | undefined
  readonly #recording: Recording
  readonly #created = performance.now()
  #id: string | undefined
  #text: string | undefined
  #queue = 0
  #retries = 0
  #began: number | undefined
  #isOver = false

  constructor(
    info: TracedCallInfo,
    root: TraceRoot,
    cause: TracedCall | string | undefined,
    edge: CallEdge | undefined,
    recording: Recording,
  ) {
    this.#info = info
    this.root = root
    this.#cause = cause
    this.#edge = edge
    this.#recording = recording
    root.first ??= this
    if (root.tracestate !== undefined) this.tracestate = root.tracestate
  }

  get isSampled(): boolean {
    return this.root.isSampled
  }

  /** Whether the end of the call is to be noticed at once. */
  get isMeasured(): boolean {
    return this.isSampled || this.#began !== undefined || this.#recording.slow !== Infinity
  }

  /** Of its span. */
  get id(): string {
    return (this.#id ??= newSpanId())
  }

  get traceparent(): string {
    return (this.#text ??= formatTraceparent({ trace: this.root.id, span: this.id, isSampled: this.isSampled }))
  }

  /**
   * What a program of this thread gets in the header of its request. Of a trace that is not sampled
   * all get the same, which the standard allows those who record nothing.
   */
  get passedOn(): Trace {
    return this.isSampled ? this : this.root.first!
  }

  /** Always a number, so the counter of the edge keeps no sample for the next call. */
  begin(): number {
    this.#began = this.#edge?.begin()
    return this.#created
  }

  started(): void {
    if (this.isSampled) this.#queue = performance.now() - this.#created
  }

  retried(): void {
    this.#retries++
    this.#edge?.retried()
  }

  end(status: number): void {
    this.#edge?.end(status, this.#began)
    if (this.#isOver) return
    this.#isOver = true
    const { slow } = this.#recording
    if (!this.isSampled && !isFailedSpan({ status }) && slow === Infinity) return
    const duration = performance.now() - this.#created
    if (!this.isSampled && !isFailedSpan({ status }) && duration <= slow) return
    const { part, caller, service, protocol, method, path, transport } = this.#info
    this.#recording.add({
      part,
      trace: this.root.id,
      id: this.id,
      parent: this.#cause instanceof TracedCall ? this.#cause.id : this.#cause,
      caller,
      service,
      protocol,
      method,
      path: path && pathOf(path),
      transport,
      start: performance.timeOrigin + this.#created,
      duration,
      queue: this.#queue,
      sent: this.sent,
      received: this.received,
      status,
      retries: this.#retries,
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
