// The global of the same name is an accessor, which takes a sixth of the time of a reading.
import { performance } from 'node:perf_hooks'
import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { Trace } from '../../contract/context.ts'
import { isFailedSpan, maxPath, type SpanKind, type SpanRecord, stateOf } from '../../shared/traces/span.ts'
import { formatTraceparent, newSpanId } from '../../shared/traces/trace-context.ts'
import type { CountedEdge } from '../meter.ts'

/** What the calls of one trace share in this thread. */
export interface TraceRoot {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly isSampled: boolean
  readonly tracestate: string | undefined
  readonly recording: Recording
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
 * something reads them, which is why the context is not a plain object: copy its fields. For the
 * same reason such a call has few fields, and the others in {@link CallDetails}: what a call adds
 * to the memory that Node collects costs about as much as what it does.
 */
export class TracedCall implements CountedEdge, Trace {
  declare readonly tracestate?: string
  readonly root: TraceRoot
  readonly #kind: SpanKind
  /** Of HTTP, with its query. */
  readonly #path: string | undefined
  /** What has caused it: a call of this thread, or the id of another span. */
  readonly #cause: TracedCall | string | undefined
  readonly #edge: CallEdge | undefined
  readonly #created = performance.now()
  #began: number | undefined
  #isOver = false
  #details: CallDetails | undefined

  constructor(
    kind: SpanKind,
    path: string | undefined,
    root: TraceRoot,
    cause: TracedCall | string | undefined,
    edge: CallEdge | undefined,
  ) {
    this.#kind = kind
    this.#path = path
    this.root = root
    this.#cause = cause
    this.#edge = edge
    root.first ??= this
    if (root.tracestate !== undefined) this.tracestate = root.tracestate
  }

  get isSampled(): boolean {
    return this.root.isSampled
  }

  /** Whether the end of the call is to be noticed at once. */
  get isMeasured(): boolean {
    return this.isSampled || this.#began !== undefined || this.root.recording.slow !== Infinity
  }

  /** Of its span. */
  get id(): string {
    return (this.details.id ??= newSpanId())
  }

  get traceparent(): string {
    const { isSampled, root, details } = this
    return (details.text ??= formatTraceparent({ trace: root.id, span: this.id, isSampled }))
  }

  get details(): CallDetails {
    return (this.#details ??= new CallDetails())
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
    if (this.isSampled) this.details.queue = performance.now() - this.#created
  }

  waited(milliseconds: number): void {
    this.details.queue += milliseconds
  }

  /** This part of the call is made later than it has arrived: it has waited for a limit. */
  arrivedBefore(milliseconds: number | undefined): void {
    if (milliseconds !== undefined) this.details.late = milliseconds
  }

  retried(): void {
    this.details.retries++
    this.#edge?.retried()
  }

  end(status: number, _began?: number, callee?: number, caller?: number): void {
    this.#edge?.end(status, this.#began, callee, caller)
    if (this.#isOver) return
    this.#isOver = true
    const { slow } = this.root.recording
    const isKept = this.isSampled || isFailedSpan({ status })
    if (!isKept && slow === Infinity) return
    const duration = performance.now() - this.#created + (this.#details?.late ?? 0)
    if (isKept || duration > slow) this.#record(status, duration, this.#counter?.workers?.(callee, caller))
  }

  /** No instance has taken the call. */
  withdraw(): void {
    this.#isOver = true
    this.#counter?.withdraw()
  }

  get #counter(): CountedEdge | undefined {
    return this.#edge as CountedEdge | undefined
  }

  #record(status: number, duration: number, workers: number | undefined): void {
    const { part, caller, service, protocol, method, transport } = this.#kind
    const route = this.#kind.route ?? this.#counter?.route
    const path = this.#path
    const { queue, late, sent, received, retries } = this.details
    this.root.recording.add({
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
      start: performance.timeOrigin + this.#created - late,
      duration,
      queue: queue + late,
      sent,
      received,
      status,
      retries,
      ...(route !== undefined && route !== '' && { route }),
      ...(workers !== undefined && { workers }),
      ...stateOf(this.root.tracestate),
    })
  }
}

/** What only calls have that are recorded, or passed on as text. */
class CallDetails {
  id: string | undefined
  text: string | undefined
  queue = 0
  late = 0
  /** Bytes of the bodies. */
  sent = 0
  received = 0
  retries = 0
}

/** A query may have secrets. */
function pathOf(target: string): string {
  const query = target.indexOf('?')
  return target.slice(0, query === -1 ? maxPath : Math.min(query, maxPath))
}
