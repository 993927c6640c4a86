import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallCount } from '../contract/host/host.ts'
import type { Endpoint } from '../mesh/endpoint.ts'
import type { MeasuredCall } from '../mesh/meter.ts'
import type { Connection } from './connection.ts'
import type { Way } from './routes.ts'

/** The events of Node's server that carry a request with a response. */
export type RequestEvent = 'request' | 'checkContinue' | 'checkExpectation'

/** The instance that a request is for, and the route that led to it. */
export interface Target {
  readonly way: Way
  readonly endpoint: Endpoint
}

/** One request of a client: created when it arrives, passed from step to step, and over when its response has closed. */
export class RequestContext {
  readonly event: RequestEvent
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly connection: Connection
  /** The path that the client asked for. A route, a service or a framework may change the request's `url`. */
  path: string
  /** Undefined until it is routed. */
  target: Target | undefined = undefined
  /** Where its service counts it, if the gateway has to tell. */
  count: CallCount | undefined = undefined
  /** Set for the few requests whose time is taken. */
  measured: MeasuredCall | undefined = undefined
  /** The tick of {@link InFlightRequests} at which the service could begin to answer. */
  since = 0
  isOver = false

  constructor(event: RequestEvent, req: IncomingMessage, res: ServerResponse, connection: Connection) {
    this.event = event
    this.req = req
    this.res = res
    this.connection = connection
    this.path = req.url!
  }

  get service(): string | undefined {
    return this.target?.way.service
  }
}
