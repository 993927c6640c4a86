import { isIP } from 'node:net'
import type { App, Route } from '../app.ts'
import { routeId } from '../gateway/routes.ts'
import type { Hazard } from './hazard.ts'

/** Routes that mean something else than they look like, or that no request takes. */
export function findRouteHazards({ gateway }: Pick<App, 'gateway'>): Hazard[] {
  return gateway.routes.flatMap((route) => [...looksLikeAPath(route), ...neverTaken(route)])
}

/** `shop` is a host, `/shop` a path. Hosts without a dot exist, but few of them are meant. */
function looksLikeAPath(route: Route): Hazard[] {
  const { host, service } = route
  if (host === undefined || host === 'localhost' || host.includes('.') || isAddress(host)) return []
  const key = routeId(route)
  return [
    {
      code: 'ROUTE_HOST',
      services: [service],
      message: `gateway.routes["${key}"] takes requests for the host ${host}, and no path of another host`,
      hint: `Write "/${key}" if it is a path.`,
    },
  ]
}

function neverTaken(route: Route): Hazard[] {
  const problem = hostProblem(route.host) ?? prefixProblem(route.prefix)
  if (problem === undefined) return []
  const { why, hint } = problem
  return [
    {
      code: 'ROUTE_UNREACHABLE',
      services: [route.service],
      message: `gateway.routes["${routeId(route)}"] takes no request: ${why}`,
      hint,
    },
  ]
}

interface RouteProblem {
  readonly why: string
  readonly hint: string
}

/** A name of DNS has labels of at most 63 characters, and is at most 253 long (RFC 1035, 2.3.4). */
const tooLong = /[^.]{64}|^.{254}/

/** Clients send an address in its shortest form, and refuse what is none. */
function hostProblem(host: string | undefined): RouteProblem | undefined {
  if (host === undefined) return undefined
  if (tooLong.test(host)) return { why: 'no name in DNS is that long', hint: 'Give the host that clients ask for.' }
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)
  if (url === null) return { why: `${host} is no address`, hint: 'Give the host that clients ask for.' }
  const asked = isIP(host) === 6 ? url.hostname.slice(1, -1) : url.hostname
  return asked === host ? undefined : { why: `clients ask for ${host} as ${asked}`, hint: `Write "${asked}".` }
}

/** Paths are compared as they are sent, and in ASCII; the gateway refuses those with a dot segment. */
function prefixProblem(prefix: string): RouteProblem | undefined {
  if (/\/(?:\.|%2e){1,2}(?=\/|%2f|$)/i.test(prefix))
    return { why: 'a path with an encoded dot segment is refused', hint: 'Leave the segment out.' }
  const sent = prefix.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
  return sent === prefix ? undefined : { why: `clients send this path as ${sent}`, hint: `Write "${sent}".` }
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
