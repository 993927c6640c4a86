import { BusbarError } from '../../../contract/errors.ts'
import { type Endpoint, transportTo } from '../../../mesh/routing/endpoint.ts'
import { hopLimitProblem } from '../../../mesh/http/problem-response.ts'
import { CountedCall } from '../../../mesh/http/counted-call.ts'
import type { MeshContext } from '../../../mesh/mesh-context.ts'
import { connectionRefused } from '../../../mesh/routing/unreachable.ts'
import { noWorker } from '../../../shared/metrics/worker-pair.ts'
import type { CountedEdge, Edge, Meter } from '../../../mesh/meter.ts'
import { currentScope, type Scope } from '../../../mesh/scope.ts'
import { MeasuredExchange } from '../../../mesh/tracing/measured-exchange.ts'
import { addTrace, readTrace, writeTrace } from '../../../mesh/tracing/trace-headers.ts'
import type { TracedCall } from '../../../mesh/tracing/traced-call.ts'
import type { Address } from './addresses.ts'
import { respondWithProblem } from '../errors.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { openPlanned, planExchange, type PlannedExchange, reframe } from '../open-exchange.ts'

/**
 * How a call will be made. Decided before anything is sent, so that another way is still possible.
 */
export type ClientRoute =
  | {
      readonly kind: 'exchange'
      readonly planned: PlannedExchange
      readonly scope: Scope
      readonly elsewhere: ((not: Endpoint) => Endpoint | undefined) | undefined
      /** Counts the call. */
      readonly edge: CountedEdge | undefined
      /** The same object as `edge`. Undefined if the app has no traces. */
      readonly traced: TracedCall | undefined
    }
  /** The outcome is known: no instance serves, or the chain of calls is too long. */
  | { readonly kind: 'settled'; readonly deliver: (handler: ExchangeHandler) => void }
  /** Only a byte stream carries the call exactly. */
  | { readonly kind: 'stream' }

export type StartableCallRoute = Exclude<ClientRoute, { kind: 'stream' }>

export function routeCall(mesh: MeshContext, address: Address, request: ExchangeRequest): ClientRoute {
  const { service, port } = address
  const caller = currentScope()
  const hops = (caller?.hops ?? 0) + 1
  if (hops > mesh.maxHops) {
    const problem = hopLimitProblem(service, mesh.maxHops)
    const edge = mesh.meter?.http(caller?.service, service, request.method, 'local', request.path)
    edge?.end(problem.status, edge.begin(), noWorker)
    return { kind: 'settled', deliver: (handler) => respondWithProblem(problem, handler) }
  }
  const endpoint = mesh.router.find(service)
  if (endpoint === undefined)
    return { kind: 'settled', deliver: (handler) => handler.onError(connectionRefused(mesh.router, service, port)) }
  const planned = planExchange(endpoint, request)
  if (planned === undefined) return { kind: 'stream' }
  const elsewhere = endpoint.at === 'here' ? undefined : (not: Endpoint) => mesh.router.find(service, { not })
  const edge = mesh.meter && edgeOf(mesh.meter, endpoint, caller?.service, request)
  if (mesh.tracer === undefined)
    return { kind: 'exchange', planned, scope: { service, hops }, elsewhere, edge, traced: undefined }
  const { method, path, rawHeaders } = request
  const given = readTrace(rawHeaders)
  const transport = transportTo(endpoint)
  const kind = edge?.spans ?? { part: 'call', caller: caller?.service, service, protocol: 'http', method, transport }
  const traced = mesh.tracer.call(kind, path, given ?? caller?.trace, edge)
  const sent = endpoint.at === 'here' ? traced.passedOn : traced
  if (given !== undefined) writeTrace(rawHeaders, sent)
  else if (endpoint.at === 'here') planned.trace = sent
  else addTrace(rawHeaders, sent)
  return { kind: 'exchange', planned, scope: { service, hops, trace: traced }, elsewhere, edge: traced, traced }
}

function edgeOf(meter: Meter, endpoint: Endpoint, caller: string | undefined, request: ExchangeRequest): Edge {
  const { method, path } = request
  if (endpoint.at === 'here') return meter.inThread(endpoint, caller, method, path)
  return meter.http(caller, endpoint.service, method, transportTo(endpoint), path)
}

/**
 * Does not call the handler before it has returned. `request`: the request that was routed, or the
 * same with another framing, which is known only when a streamed body begins.
 */
export function startCall(route: StartableCallRoute, request: ExchangeRequest, handler: ExchangeHandler): Exchange {
  if (route.kind !== 'exchange') return settle(handler, route.deliver)
  const { traced } = route
  // The bytes of a call that is recorded only if it fails are not needed.
  if (traced?.isSampled !== true) return startPlanned(route, request, handler)
  const measured = new MeasuredExchange(handler, traced, false)
  measured.sends(request.body)
  return measured.over(startPlanned(route, request, measured))
}

function startPlanned(
  { planned, scope, edge, elsewhere }: Extract<ClientRoute, { kind: 'exchange' }>,
  request: ExchangeRequest,
  handler: ExchangeHandler,
): Exchange {
  const framed = request === planned.request ? planned : reframe(planned, request)
  if (edge === undefined) return openPlanned(framed, scope, handler, elsewhere)
  // In this thread the exchange itself knows when the call is over.
  if (framed.endpoint.at === 'here') return openPlanned(framed, scope, handler, elsewhere, edge)
  const counted = new CountedCall(handler, edge, framed.endpoint)
  return counted.over(openPlanned(framed, scope, counted, elsewhere))
}

/** An exchange whose outcome is known from the start. */
function settle(handler: ExchangeHandler, deliver: (handler: ExchangeHandler) => void): Exchange {
  let open = true
  const close = (outcome: (handler: ExchangeHandler) => void): void => {
    if (!open) return
    open = false
    outcome(handler)
  }
  queueMicrotask(() => close(deliver))
  return {
    write: () => true,
    end: () => {},
    resume: () => {},
    abort: (error) => close(() => handler.onError(error ?? aborted())),
  }
}

function aborted(): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: 'the caller cancelled the call' })
}
