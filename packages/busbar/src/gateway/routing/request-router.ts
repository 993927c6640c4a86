import type { IncomingMessage } from 'node:http'
import type { App, Limits } from '../../config/app.ts'
import type { Router } from '../../mesh/routing/router.ts'
import { malformed, needsCertificate, noRoute, tooLarge, unavailable } from '../problems/gateway-problems.ts'
import type { Problem } from '../problems/problem.ts'
import { isTooLarge } from '../request-body.ts'
import type { Target } from '../request-context.ts'
import { clientCertificateOf } from '../tls/client-certificate.ts'
import { checkHost, normalizeTarget } from './request-target.ts'
import { type GatewayRoute, Routes } from './routes.ts'
import { stickyClientOf } from './sticky-client.ts'

/** `unserved`: the route of a service that does not serve now. */
interface Refusal {
  readonly problem: Problem
  readonly unserved?: GatewayRoute
}

/** A service that serves now, or the problem to respond with. */
export type RoutingResult = (Target & { readonly problem?: undefined }) | Refusal

/** Routes each request by its head alone. */
export class RequestRouter {
  readonly routes: Routes
  readonly #router: Router
  readonly #limits: Limits

  constructor({ gateway, services, limits }: Pick<App, 'gateway' | 'services' | 'limits'>, router: Router) {
    this.routes = new Routes(gateway, services)
    this.#router = router
    this.#limits = limits
  }

  /** May be called twice for a request: an upgrade is checked before it is made. */
  route(req: IncomingMessage): RoutingResult {
    const rejection = normalizeTarget(req) ?? checkHost(req)
    if (rejection !== undefined) return { problem: malformed(rejection) }
    const route = this.routes.find(req.headers.host, req.url!)
    if (route === undefined) return { problem: noRoute(this.routes.nearest(req.headers.host, req.url!)) }
    if (route.needsClientCertificate && clientCertificateOf(req.socket) === undefined)
      return { problem: needsCertificate }
    if (isTooLarge(req, this.#limits.maxBodySize)) return { problem: tooLarge(this.#limits.maxBodySize) }
    const client = route.sticky && stickyClientOf(req, route.service, route.sticky)
    const endpoint = this.#router.find(route.service, client)
    if (endpoint === undefined) return { problem: unavailable(route.service), unserved: route }
    return { route, endpoint, setCookie: client?.setCookie }
  }
}
