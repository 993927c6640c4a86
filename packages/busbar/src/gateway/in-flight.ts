import type { CallCount } from '../contract/host/host.ts'
import { isFailed } from '../mesh/failed-response.ts'
import { MeasuredCall, type Meter } from '../mesh/meter.ts'
import type { RequestContext, Target } from './request-context.ts'

export interface InFlightParts {
  /** Milliseconds until an answer must have begun; 0: no limit. */
  readonly responseTimeout: number
  /** Every request in flight. */
  readonly all: () => Iterable<RequestContext>
  readonly onOverdue: (context: RequestContext) => void
  /** One more or one less is in flight. */
  readonly onCount: (by: 1 | -1) => void
  readonly meter?: Meter | undefined
}

/** How finely the response timeout is watched: one timer for all, and no clock read per request. */
const ticksPerTimeout = 8

/** Counts and times the requests that have arrived and are not answered to their end. */
export class InFlightRequests {
  readonly #parts: InFlightParts
  readonly #watch: NodeJS.Timeout | undefined
  #tick = 0
  #size = 0

  constructor(parts: InFlightParts) {
    this.#parts = parts
    if (parts.responseTimeout === 0) return
    this.#watch = setInterval(() => this.#findOverdue(), Math.max(1, parts.responseTimeout / ticksPerTimeout))
    this.#watch.unref()
  }

  get size(): number {
    return this.#size
  }

  /** `close` comes however a response ends, but for one whose turn had not come when its connection closed. */
  begin(context: RequestContext): void {
    context.since = this.#tick
    context.connection.began(context)
    context.res.on('close', () => this.end(context))
    this.#size++
    this.#parts.onCount(1)
  }

  routed(context: RequestContext, target: Target): void {
    context.target = target
    const { meter } = this.#parts
    const weight = meter?.next() ?? 0
    if (weight > 0) context.measured = new MeasuredCall(meter!, undefined, target.way.service, weight)
  }

  /** The service in this thread gets the gateway's own request. */
  handedOver(context: RequestContext, count: CallCount | undefined): void {
    context.count = count
    count?.began()
  }

  /** Once; nothing where it has ended. */
  end(context: RequestContext): void {
    if (context.isOver) return
    context.isOver = true
    this.#size--
    this.#parts.onCount(-1)
    context.connection.ended(context)
    context.measured?.end()
    context.count?.left(isFailed(context.res))
  }

  stopWatching(): void {
    clearInterval(this.#watch)
  }

  #findOverdue(): void {
    this.#tick++
    for (const context of this.#parts.all()) {
      if (context.res.headersSent) continue
      // The service is not late while its caller is still sending: that is the request timeout's to judge.
      if (!context.req.complete) context.since = this.#tick
      else if (this.#tick - context.since > ticksPerTimeout) this.#parts.onOverdue(context)
    }
  }
}
