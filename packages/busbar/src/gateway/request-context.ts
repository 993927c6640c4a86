import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CallCounter } from '../contract/host/typed-host.ts'
import type { Endpoint, LocalEndpoint } from '../mesh/routing/endpoint.ts'
import type { CountedEdge } from '../mesh/meter.ts'
import { noWorker } from '../shared/metrics/worker-pair.ts'
import type { Scope } from '../mesh/scope.ts'
import type { TracedCall } from '../mesh/tracing/traced-call.ts'
import type { BytesBefore } from '../mesh/tracing/traced-request.ts'
import type { Problem } from './problems/problem.ts'
import type { GatewayRoute } from './routing/routes.ts'

/** The events of Node's server that carry a request with a response. */
export type RequestEvent = 'request' | 'checkContinue' | 'checkExpectation'

/**
 * Takes note of what is written to the connection for a response, as arguments of `write`. Returns
 * others where that is more than the length that the response states: the client would read the
 * rest as its next response.
 */
export type CutWrite = (context: RequestContext, written: readonly unknown[]) => readonly unknown[] | undefined

/** The instance that serves a request, and the route that selected it. */
export interface Target {
  readonly route: GatewayRoute
  readonly endpoint: Endpoint
  /** For a client that is to stay with an instance, and has no cookie yet. */
  readonly setCookie?: string | undefined
}

/** The client's connection, as the steps of a request use it. */
export interface ClientConnection {
  readonly socket: Socket
  /** Number of requests in flight. */
  readonly inFlight: number
  /** `bytesWritten` of the socket when the latest response ended. */
  readonly bytesOfResponses: number
  addRequest(context: RequestContext): void
  removeRequest(context: RequestContext): void
  /** Accepts no more requests; closes after the responses in flight. */
  finish(): void
  /** Ends the connection with `problem` as the response to `context`, or without a response. */
  failRequest(problem: Problem, context: RequestContext | undefined): void
}

/**
 * One request of a client. It is created when the request arrives, passed from step to step, and
 * over when its response has closed.
 */
export class RequestContext {
  readonly event: RequestEvent
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly connection: ClientConnection
  /** The path as requested. A route, a service or a framework may change the request's `url`. */
  path: string
  /** Undefined until the request is routed. */
  target: Target | undefined = undefined
  /** The worker of the instance that has it, as for `end` of an edge. */
  callee: number | undefined = noWorker
  /** The instance that was given the gateway's own request, which the gateway has to count. */
  handedTo: LocalEndpoint | undefined = undefined
  /** Of that instance's response: cuts what is written beyond its length. */
  cut: CutWrite | undefined = undefined
  /** Bytes of the response that have not been written. Undefined before its head. */
  bytesLeft: number | undefined = undefined
  /** No other request was in flight on its connection when the instance got it. */
  isAlone = false
  /** Set only for the sampled requests whose time in the instance is measured. */
  timer: ReturnType<CallCounter['countStart']> = undefined
  /** Counts the request for its route. Undefined until it is routed. */
  edge: CountedEdge | undefined = undefined
  /** The same, if the app has traces. */
  call: TracedCall | undefined = undefined
  /** What its connection had carried when it was routed. */
  bytesBefore: BytesBefore | undefined = undefined
  /** When it was routed. Set only for the sampled requests whose latency is measured. */
  began: number | undefined = undefined
  /** The tick of {@link InFlightRequests} from which the response timeout counts. */
  since = 0
  isOver = false

  constructor(event: RequestEvent, req: IncomingMessage, res: ServerResponse, connection: ClientConnection) {
    this.event = event
    this.req = req
    this.res = res
    this.connection = connection
    this.path = req.url!
  }

  /** The scope in which a program of this thread answers. */
  within(scope: Scope): Scope {
    return this.call === undefined ? scope : { ...scope, trace: this.call }
  }

  get service(): string | undefined {
    return this.target?.route.service
  }
}
