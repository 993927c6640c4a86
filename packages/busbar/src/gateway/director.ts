import type { IncomingMessage } from 'node:http'
import type { Gateway, Limits } from '../config/app.ts'
import type { Router } from '../mesh/router.ts'
import { isTooLarge } from './body-limit.ts'
import { dropHopByHop } from './end-to-end.ts'
import { stateForwarded } from './forwarded.ts'
import type { Problem } from './problem.ts'
import type { Target } from './request-context.ts'
import { cutPrefix, Routes } from './routes.ts'
import { refuseHost, settleTarget } from './target.ts'

/** Where a request goes: to a service that serves now, or back with a problem. */
export type Direction = (Target & { readonly problem?: undefined }) | { readonly problem: Problem }

/** Decides about each request by its head alone. */
export class Director {
  readonly routes: Routes
  readonly #router: Router
  readonly #limits: Limits

  constructor(gateway: Gateway, limits: Limits, router: Router) {
    this.routes = new Routes(gateway)
    this.#router = router
    this.#limits = limits
  }

  /** May be asked twice of one request: an upgrade is judged before it is made. */
  direct(req: IncomingMessage): Direction {
    const refusal = settleTarget(req) ?? refuseHost(req)
    if (refusal !== undefined) return { problem: malformed(refusal) }
    const way = this.routes.find(req.headers.host, req.url!)
    if (way === undefined) return { problem: this.#noRoute(req) }
    if (isTooLarge(req, this.#limits.maxBodySize)) return { problem: tooLarge(this.#limits.maxBodySize) }
    const endpoint = this.#router.find(way.service)
    return endpoint === undefined ? { problem: unavailable(way.service) } : { way, endpoint }
  }

  #noRoute(req: IncomingMessage): Problem {
    const routes = this.routes.nearest(req.headers.host, req.url!)
    const near = routes.length === 0 ? 'there are no routes' : `the nearest are ${routes.join(', ')}`
    return { code: 'ROUTE_NOT_FOUND', detail: `No route takes this path: ${near}`, more: { routes } }
  }
}

/**
 * Makes the request the service's own, wherever that is: what its route cuts off the path is gone.
 * No `originalUrl` keeps the whole path: frameworks route by it when it is there, and a service
 * over TCP would not have it. Fields that are not for the service go before ours are added, so that
 * a client can take away none of ours.
 */
export function prepare(req: IncomingMessage, { way: { cut } }: Target, upgrade = false): void {
  if (cut !== '') req.url = cutPrefix(req.url!, cut)
  dropHopByHop(req, upgrade)
  stateForwarded(req, cut)
}

export function malformed(reason: string): Problem {
  return { code: 'REQUEST_MALFORMED', detail: `The request cannot be served: ${reason}` }
}

export function tooLarge(maxBodySize: number): Problem {
  return { code: 'BODY_TOO_LARGE', detail: `The body is larger than ${maxBodySize} bytes`, more: { maxBodySize } }
}

export function unavailable(service: string): Problem {
  return {
    code: 'SERVICE_UNAVAILABLE',
    detail: `Service "${service}" is not serving`,
    more: { service },
    headers: { 'retry-after': '1' },
  }
}
