import type { Trace } from '../../contract/context.ts'
import { answererAt, type Endpoint, type LocalEndpoint, type RemoteEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../mesh/http/exchange.ts'
import type { CountedEdge } from '../../mesh/meter.ts'
import type { Scope } from '../../mesh/scope.ts'
import { methodNumbers } from '../../node/parser.ts'
import { InThreadExchange } from './in-thread/in-thread-exchange.ts'
import { RetryingExchange } from './link/retrying-exchange.ts'
import { LinkExchange } from './link/link-exchange.ts'
import { addFraming, limitsOf, noLimits, planRequest, type RequestPlan } from './request-plan.ts'

/** A request that an exchange can carry exactly. */
export interface PlannedExchange {
  readonly endpoint: LocalEndpoint | RemoteEndpoint
  readonly request: ExchangeRequest
  readonly plan: RequestPlan
  /** Added to the head of a request to a program of this thread, which has no context yet. */
  trace: Trace | undefined
}

type Elsewhere = (not: Endpoint) => Endpoint | undefined

/** Undefined if only a connection carries the request exactly. */
export function planExchange(endpoint: Endpoint, request: ExchangeRequest): PlannedExchange | undefined {
  if (endpoint.at === 'tcp') return undefined
  // The limits of a server in another worker are checked there.
  const limits = endpoint.at === 'here' ? limitsOf(endpoint.server) : noLimits
  const plan = limits && planRequest(methodNumbers(), limits, request)
  return plan && { endpoint, request, plan, trace: undefined }
}

/**
 * Plans the same request with another framing. The first plan has left room for it, so the limits
 * need no second check.
 */
export function reframe({ endpoint, trace }: PlannedExchange, request: ExchangeRequest): PlannedExchange {
  return { endpoint, request, plan: planRequest(methodNumbers(), noLimits, request)!, trace }
}

/** Undefined if only a connection carries the request exactly. Then nothing was sent. */
export function tryOpenExchange(
  endpoint: Endpoint,
  request: ExchangeRequest,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere?: Elsewhere,
): Exchange | undefined {
  const planned = planExchange(endpoint, request)
  return planned && openPlanned(planned, scope, handler, elsewhere)
}

/** Does not call the handler before it has returned. `edge`: counts a call in this thread. */
export function openPlanned(
  planned: PlannedExchange,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere?: Elsewhere,
  edge?: CountedEdge,
): Exchange {
  const { endpoint, request, plan, trace } = planned
  addFraming(plan, request)
  if (endpoint.at === 'here') return new InThreadExchange(endpoint, request, plan, scope, handler, edge, trace)
  if (endpoint.admission === undefined && elsewhere === undefined)
    return new LinkExchange(endpoint, request, plan.contentLength, scope, handler)
  return openRetrying(endpoint, request, plan, scope, handler, elsewhere)
}

function openRetrying(
  endpoint: RemoteEndpoint,
  given: ExchangeRequest,
  { contentLength }: RequestPlan,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere: Elsewhere = () => undefined,
): Exchange {
  // The caller may reuse its memory before the request is sent, or sent again.
  const body = typeof given.body === 'string' || given.body === null ? given.body : new Uint8Array(given.body)
  const request = { ...given, body }
  return new RetryingExchange({
    endpoint,
    request,
    handler,
    open: (retrying) => new LinkExchange(endpoint, request, contentLength, scope, retrying),
    openElsewhere(retrying) {
      const next = elsewhere(endpoint)
      const exchange = next && tryOpenExchange(next, request, scope, retrying)
      if (exchange !== undefined) handler.onRetry?.(answererAt(next!))
      return exchange
    },
  })
}
