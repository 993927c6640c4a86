import { BusbarError } from '../../../contract/errors.ts'
import type { Endpoint } from '../../../mesh/endpoint.ts'
import { hopLimitProblem, nextHops } from '../../../mesh/hops.ts'
import type { HttpMesh } from '../../../mesh/mesh.ts'
import { connectionRefused } from '../../../mesh/refusals.ts'
import { MeasuredCall } from '../../../mesh/meter.ts'
import { currentScope, type Scope } from '../../../mesh/scope.ts'
import type { Address } from './addresses.ts'
import { MeasuredHandler } from './measured.ts'
import { tellProblem } from '../tell-problem.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { openPlanned, planExchange, type PlannedExchange, reframe } from '../open.ts'

/** How a call will go: decided before anything of it is sent, so that it can still be handed to another way. */
export type Route =
  | {
      readonly kind: 'exchange'
      readonly planned: PlannedExchange
      readonly scope: Scope
      readonly elsewhere: ((not: Endpoint) => Endpoint | undefined) | undefined
      /** Where its time is taken. */
      readonly measured: MeasuredCall | undefined
    }
  /** It is known what comes of it: nobody serves, or it is one call too many in a chain. */
  | { readonly kind: 'settled'; readonly tell: (handler: ExchangeHandler) => void }
  /** Only a byte stream does it exactly. */
  | { readonly kind: 'stream' }

export type StartableRoute = Exclude<Route, { kind: 'stream' }>

export function routeCall(mesh: HttpMesh, address: Address, request: ExchangeRequest): Route {
  const { service, port } = address
  const hops = nextHops()
  if (hops > mesh.maxHops)
    return { kind: 'settled', tell: (handler) => tellProblem(hopLimitProblem(service, mesh.maxHops), handler) }
  const endpoint = mesh.router.find(service)
  if (endpoint === undefined)
    return { kind: 'settled', tell: (handler) => handler.onError(connectionRefused(mesh.router, service, port)) }
  const planned = planExchange(endpoint, request)
  if (planned === undefined) return { kind: 'stream' }
  const elsewhere = endpoint.at === 'here' ? undefined : (not: Endpoint) => mesh.router.find(service, { not })
  return { kind: 'exchange', planned, scope: { service, hops }, elsewhere, measured: measure(mesh, service) }
}

/**
 * The handler is never called before this has returned. `request`: the one that was routed, or the same with another framing,
 * which shows only when a streamed body begins.
 */
export function startCall(route: StartableRoute, request: ExchangeRequest, handler: ExchangeHandler): Exchange {
  if (route.kind !== 'exchange') return settle(handler, route.tell)
  const { planned, scope, measured, elsewhere } = route
  const own = measured === undefined ? handler : new MeasuredHandler(handler, measured)
  return openPlanned(request === planned.request ? planned : reframe(planned, request), scope, own, elsewhere)
}

function measure({ meter }: HttpMesh, service: string): MeasuredCall | undefined {
  const weight = meter?.next() ?? 0
  return weight === 0 ? undefined : new MeasuredCall(meter!, currentScope()?.service, service, weight)
}

/** An exchange whose end is known from the start. */
function settle(handler: ExchangeHandler, tell: (handler: ExchangeHandler) => void): Exchange {
  let open = true
  const close = (outcome: (handler: ExchangeHandler) => void): void => {
    if (!open) return
    open = false
    outcome(handler)
  }
  queueMicrotask(() => close(tell))
  return {
    write: () => true,
    end: () => {},
    resume: () => {},
    abort: (error) => close(() => handler.onError(error ?? aborted())),
  }
}

function aborted(): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: 'the caller gave up' })
}
