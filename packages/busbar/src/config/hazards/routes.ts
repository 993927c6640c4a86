import { isIP } from 'node:net'
import type { App, Route } from '../app.ts'
import { routeId } from '../gateway/routes.ts'
import type { Hazard } from './hazard.ts'

/** Finds routes that are probably misspelt, and routes that no request matches. */
export function findRouteHazards({ gateway }: Pick<App, 'gateway'>): Hazard[] {
  return gateway.routes.flatMap((route) => [...mayBePath(route), ...neverMatches(route)])
}

/** `shop` is a host, `/shop` a path. A host without a dot is valid but rarely intended. */
function mayBePath(route: Route): Hazard[] {
  const { host, service } = route
  if (host === undefined || host === 'localhost' || host.includes('.') || isAddress(host)) return []
  const key = routeId(route)
  return [
    {
      code: 'ROUTE_HOST',
      services: [service],
      message: `gateway.routes["${key}"] matches requests for the host ${host}, and no path of other hosts`,
      hint: `Write "/${key}" if it is a path.`,
    },
  ]
}

function neverMatches(route: Route): Hazard[] {
  const problem = hostProblem(route.host) ?? prefixProblem(route.prefix)
  if (problem === undefined) return []
  const { why, hint } = problem
  return [
    {
      code: 'ROUTE_UNREACHABLE',
      services: [route.service],
      message: `gateway.routes["${routeId(route)}"] matches no request: ${why}`,
      hint,
    },
  ]
}

interface RouteProblem {
  readonly why: string
  readonly hint: string
}

/** A DNS name has labels of at most 63 characters, and at most 253 in all (RFC 1035, 2.3.4). */
const tooLong = /[^.]{64}|^.{254}/

/** Clients normalise addresses, and refuse invalid ones. */
function hostProblem(host: string | undefined): RouteProblem | undefined {
  if (host === undefined) return undefined
  if (tooLong.test(host)) return { why: 'no DNS name is that long', hint: 'Write the host that clients send.' }
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)
  if (url === null) return { why: `${host} is not an address`, hint: 'Write the host that clients send.' }
  const normalised = isIP(host) === 6 ? url.hostname.slice(1, -1) : url.hostname
  return normalised === host
    ? undefined
    : { why: `clients send ${host} as ${normalised}`, hint: `Write "${normalised}".` }
}

/**
 * Paths are compared as clients send them, in ASCII. The gateway refuses paths with dot segments.
 */
function prefixProblem(prefix: string): RouteProblem | undefined {
  if (/\/(?:\.|%2e){1,2}(?=\/|%2f|$)/i.test(prefix))
    return { why: 'a path with an encoded dot segment is refused', hint: 'Leave the segment out.' }
  const sent = prefix.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
  return sent === prefix ? undefined : { why: `clients send this path as ${sent}`, hint: `Write "${sent}".` }
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
