import type { Endpoint, LocalEndpoint, RemoteEndpoint } from '../../mesh/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../mesh/http/exchange.ts'
import type { Scope } from '../../mesh/scope.ts'
import { methodNumbers } from '../../node/parser.ts'
import { InThreadExchange } from './in-thread/in-thread-exchange.ts'
import { Attempts } from './link/attempts.ts'
import { LinkExchange } from './link/link-exchange.ts'
import { addFraming, limitsOf, noLimits, planRequest, type RequestPlan } from './request-plan.ts'

/** A request that an exchange does exactly. */
export interface PlannedExchange {
  readonly endpoint: LocalEndpoint | RemoteEndpoint
  readonly request: ExchangeRequest
  readonly plan: RequestPlan
}

type Elsewhere = (not: Endpoint) => Endpoint | undefined

/** Undefined for what only a connection does exactly. */
export function planExchange(endpoint: Endpoint, request: ExchangeRequest): PlannedExchange | undefined {
  if (endpoint.at === 'tcp') return undefined
  // How much the server of an instance elsewhere takes is for its own thread to say.
  const limits = endpoint.at === 'here' ? limitsOf(endpoint.server) : noLimits
  const plan = limits && planRequest(methodNumbers(), limits, request)
  return plan && { endpoint, request, plan }
}

/** The same with another framing, for which the first plan left room. */
export function reframe({ endpoint }: PlannedExchange, request: ExchangeRequest): PlannedExchange {
  return { endpoint, request, plan: planRequest(methodNumbers(), noLimits, request)! }
}

/** Undefined for what only a connection does exactly: nothing was sent. */
export function tryOpen(
  endpoint: Endpoint,
  request: ExchangeRequest,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere?: Elsewhere,
): Exchange | undefined {
  const planned = planExchange(endpoint, request)
  return planned && openPlanned(planned, scope, handler, elsewhere)
}

/** The handler is never called before this has returned. */
export function openPlanned(
  planned: PlannedExchange,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere?: Elsewhere,
): Exchange {
  const { endpoint, request, plan } = planned
  addFraming(plan, request)
  if (endpoint.at === 'here') return new InThreadExchange(endpoint, request, plan, scope, handler)
  if (endpoint.admission === undefined && (elsewhere === undefined || request.streamed))
    return new LinkExchange(endpoint, request, plan.contentLength, scope, handler)
  return attempt(endpoint, request, plan, scope, handler, elsewhere)
}

function attempt(
  endpoint: RemoteEndpoint,
  stated: ExchangeRequest,
  { contentLength }: RequestPlan,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere: Elsewhere = () => undefined,
): Exchange {
  // Its memory is the caller's, who may use it again before the request is made, or made again.
  const body = typeof stated.body === 'string' || stated.body === null ? stated.body : new Uint8Array(stated.body)
  const request = { ...stated, body }
  return new Attempts({
    endpoint,
    request,
    handler,
    open: (own) => new LinkExchange(endpoint, request, contentLength, scope, own),
    openElsewhere(own) {
      const next = elsewhere(endpoint)
      return next && tryOpen(next, request, scope, own)
    },
  })
}
