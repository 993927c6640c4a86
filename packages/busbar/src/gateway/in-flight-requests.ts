import { isFailedResponse, type Meter, outcomeOf } from '../mesh/meter.ts'
import { answererAt, type LocalEndpoint, transportTo } from '../mesh/routing/endpoint.ts'
import { bytesBefore, countBytes, traceRequest } from '../mesh/tracing/traced-request.ts'
import type { Tracer } from '../mesh/tracing/tracer.ts'
import { takeLost } from '../shared/lost-requests.ts'
import type { Handover } from './handover.ts'
import { noResponse } from './problems/gateway-problems.ts'
import type { Problem } from './problems/problem.ts'
import type { RequestContext, Target } from './request-context.ts'
import { ResponseTimeout } from './response-timeout.ts'
import type { GatewayRoute } from './routing/routes.ts'

export interface InFlightParts {
  /** Milliseconds within which a response must begin; 0 for no limit. */
  readonly responseTimeout: number
  /** Every request in flight. */
  readonly all: () => Iterable<RequestContext>
  readonly onOverdue: (context: RequestContext) => void
  /** One more or one less is in flight. */
  readonly onCount: (by: 1 | -1) => void
  readonly isCommand: (service: string) => boolean
  readonly handover?: Handover | undefined
  readonly meter?: Meter | undefined
  readonly tracer?: Tracer | undefined
}

/** Counts and times requests from their arrival to the end of their response. */
export class InFlightRequests {
  readonly #parts: InFlightParts
  readonly #timeout: ResponseTimeout
  #size = 0

  constructor(parts: InFlightParts) {
    this.#parts = parts
    this.#timeout = new ResponseTimeout(parts.responseTimeout, () => this.#findOverdue())
  }

  get size(): number {
    return this.#size
  }

  /**
   * `close` follows every response, except one that was still queued behind others when its
   * connection closed.
   */
  begin(context: RequestContext): void {
    context.since = this.#timeout.now
    context.connection.addRequest(context)
    context.res.on('close', () => this.end(context))
    this.#size++
    this.#parts.onCount(1)
  }

  routed(context: RequestContext, target: Target): void {
    context.target = target
    context.callee = answererAt(target.endpoint)
    const { service } = target.route
    const { meter, tracer } = this.#parts
    const transport = transportTo(target.endpoint)
    const edge = meter?.arriving(target.route, context.req.method!, transport, context.req.url!)
    if (tracer !== undefined) {
      const info = { part: 'call', caller: undefined, service, transport } as const
      context.call = traceRequest(tracer, info, context.req, edge)
      context.bytesBefore = bytesBefore(context.req)
    }
    context.edge = context.call ?? edge
    context.began = context.edge?.begin()
    if (takeLost(context.req.socket)) context.edge?.retried()
  }

  /**
   * No instance serves `route`. Nobody was called, unless the last instance ended with the request:
   * then the answer is this problem.
   */
  unserved(context: RequestContext, route: GatewayRoute | undefined): Problem | undefined {
    if (route === undefined || !takeLost(context.req.socket)) return undefined
    const { meter, isCommand } = this.#parts
    // The native entrance has called it: processes by Unix sockets, and commands at their ports.
    const transport = isCommand(route.service) ? 'tcp' : 'unix'
    context.edge = meter?.arriving(route, context.req.method!, transport, context.req.url!)
    context.began = context.edge?.begin()
    return noResponse(route.service, 'SERVICE_HANGUP')
  }

  /** A service in this thread was given the gateway's own request. */
  handedOver(context: RequestContext, endpoint: LocalEndpoint): void {
    context.handedTo = endpoint
    context.cut = this.#parts.handover?.cut
    context.isAlone = context.connection.inFlight === 1
    context.timer = endpoint.count?.countStart()
  }

  /** Does nothing if the request has ended. */
  end(context: RequestContext): void {
    if (context.isOver) return
    context.isOver = true
    this.#size--
    this.#parts.onCount(-1)
    if (this.#isShort(context)) context.connection.finish()
    context.connection.removeRequest(context)
    if (context.call !== undefined) countBytes(context.call, context.req, context.res, context.bytesBefore!)
    context.edge?.end(outcomeOf(context.res), context.began, context.callee)
    context.handedTo?.count?.countEnd(isFailedResponse(context.res))
    context.handedTo?.answered?.(context.req)
    context.timer?.end()
  }

  /**
   * Node keeps the connection of a response that is shorter than its length, and its client would
   * wait for the rest. Beside other responses, what was written is not only its own.
   */
  #isShort({ isAlone, res, connection }: RequestContext): boolean {
    if (!isAlone || connection.inFlight > 1 || !res.writableFinished) return false
    const { socket, bytesOfResponses } = connection
    return this.#parts.handover?.isShort(res, socket.bytesWritten - bytesOfResponses) === true
  }

  stopWatching(): void {
    this.#timeout.stop()
  }

  #findOverdue(): void {
    for (const context of this.#parts.all()) {
      if (context.res.headersSent) continue
      // While the client is still sending, only the request timeout applies.
      if (!context.req.complete) context.since = this.#timeout.now
      else if (this.#timeout.isOver(context.since)) this.#parts.onOverdue(context)
    }
  }
}
