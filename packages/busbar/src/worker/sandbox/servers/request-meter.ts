import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CallEdge } from '../../../contract/call/call-edge.ts'
import type { Trace } from '../../../contract/context.ts'
import { isFailedResponse, type Meter, type MeteredRoute, outcomeOf, wholeService } from '../../../mesh/meter.ts'
import { onUpgradeAnswer } from '../../../mesh/sockets/upgrade-answer.ts'
import { type BytesBefore, bytesBefore, countBytes, traceRequest } from '../../../mesh/tracing/traced-request.ts'
import type { TracedCall } from '../../../mesh/tracing/traced-call.ts'
import type { Tracer } from '../../../mesh/tracing/tracer.ts'
import type { CallTimer } from '../../../shared/metrics/call-times.ts'
import type { InstanceCells } from '../../../shared/metrics/instance-cells.ts'
import { isFailedSpan } from '../../../shared/traces/span.ts'

export interface Metered {
  readonly service: string
  readonly count: InstanceCells
  readonly meter: Meter
  readonly tracer: Tracer | undefined
  /** Called with each request that is answered. */
  readonly answered: ((request: IncomingMessage) => void) | undefined
}

/** Counts and measures the requests of a connection that did not come from the mesh. */
export class RequestMeter {
  readonly #what: Metered
  readonly #route: MeteredRoute
  /** Requests that were not answered in the turn of the event loop in which they arrived. */
  readonly #slow = new Map<ServerResponse, Begun>()
  #closed = false

  constructor(socket: Socket, what: Metered) {
    this.#what = what
    this.#route = wholeService(what.service)
    socket.once('close', () => this.#close())
  }

  /**
   * Called before the program gets the request, so that one that blocks the thread counts as in
   * flight. An upgrade has no response, and counts until the program has begun to answer it.
   */
  began(request: IncomingMessage, response: ServerResponse | undefined): Trace | undefined {
    const { service, count, meter, tracer } = this.#what
    const counted = meter.arriving(this.#route, request.method ?? 'GET', 'local', request.url ?? '/')
    const info = { part: 'call', caller: undefined, service, transport: 'local' } as const
    const call = tracer && traceRequest(tracer, info, request, counted)
    const edge = call ?? counted
    const begun = edge.begin()
    const since = call === undefined || call.isMeasured ? begun : undefined
    const timer = count.countStart()
    if (response === undefined) {
      onUpgradeAnswer(request.socket, (status) => {
        count.countEnd(isFailedSpan({ status }))
        edge.end(status, since)
      })
      return call
    }
    const one: Begun = { meter: this, response, timer, edge, since, call, before: call && bytesBefore(request) }
    if (thisTurn.push(one) === 1) setImmediate(endTurn)
    // The end of the turn would be too late to measure it.
    if (since !== undefined) {
      this.#slow.set(response, one)
      response.on('close', () => this.#answered(response))
    }
    return call
  }

  /** Called at the end of the turn in which the request arrived. */
  endTurn(one: Begun): void {
    const { response, since } = one
    // Of a closed connection, a response may not close any more.
    if (since !== undefined) return this.#closed ? this.#answered(response) : undefined
    if (response.writableFinished || this.#closed) return this.#count(one)
    this.#slow.set(response, one)
    response.on('close', () => this.#answered(response))
  }

  #answered(response: ServerResponse): void {
    const one = this.#slow.get(response)
    if (one === undefined) return
    this.#slow.delete(response)
    this.#count(one)
  }

  #count({ response, timer, edge, since, call, before }: Begun): void {
    if (call !== undefined) countBytes(call, response.req, response, before!)
    this.#what.count.countEnd(isFailedResponse(response))
    timer?.end()
    edge.end(outcomeOf(response), since)
    this.#what.answered?.(response.req)
  }

  /** Pipelined requests may still be unanswered when the connection closes. */
  #close(): void {
    this.#closed = true
    for (const response of this.#slow.keys()) this.#answered(response)
  }
}

interface Begun {
  readonly meter: RequestMeter
  readonly response: ServerResponse
  readonly timer: CallTimer | undefined
  readonly edge: CallEdge
  readonly call: TracedCall | undefined
  /** What the connection had carried. */
  readonly before: BytesBefore | undefined
  /** When it began, if it is measured. */
  readonly since: number | undefined
}

/**
 * Most requests are answered in the turn in which they arrive. Adding a listener to each response
 * would cost more than everything else here.
 */
const thisTurn: Begun[] = []

function endTurn(): void {
  for (const one of thisTurn.splice(0)) one.meter.endTurn(one)
}
