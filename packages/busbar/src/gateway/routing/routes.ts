import { distance } from 'fastest-levenshtein'
import type { ClientCertificate, GatewayConfig, Route, Service, Sticky } from '../../config/app.ts'
import type { Scope } from '../../mesh/scope.ts'

/** A configured route, prepared for matching. */
export interface GatewayRoute {
  readonly host: string | undefined
  /** Prefix of the matched paths; '' matches all. */
  readonly prefix: string
  /** Removed from the path before the service gets it: the prefix, or '' for nothing. */
  readonly strippedPrefix: string
  readonly service: string
  /** How a client is known that stays with an instance. Undefined: none does. */
  readonly sticky: Sticky | undefined
  /** Only clients with a certificate may use it. */
  readonly needsClientCertificate: boolean
  /** The scope of calls from outside, in which the service runs. */
  readonly scope: Scope
}

/**
 * Selects a route: first from the routes of the request's host, then from those of any host, the
 * longest prefix first; at last the entry.
 */
export class Routes {
  readonly #byHost = new Map<string, readonly GatewayRoute[]>()
  readonly #anyHost: readonly GatewayRoute[]
  readonly #entry: GatewayRoute | undefined

  constructor(
    { routes, entry, tls }: Pick<GatewayConfig, 'routes' | 'entry' | 'tls'>,
    services: readonly Pick<Service, 'name' | 'sticky'>[],
  ) {
    const toRoute = (route: Route): GatewayRoute => {
      const service = services.find(({ name }) => name === route.service)
      return toGatewayRoute(route, service?.sticky, tls?.clientCertificate)
    }
    const sorted = routes.map(toRoute).sort((one, other) => other.prefix.length - one.prefix.length)
    this.#anyHost = sorted.filter(({ host }) => host === undefined)
    for (const [host, own] of Map.groupBy(sorted, (route) => route.host))
      if (host !== undefined) this.#byHost.set(unbracketed(host), own)
    this.#entry = entry === undefined ? undefined : toRoute({ host: undefined, prefix: '', service: entry })
  }

  /** `url` starts with a slash, or is `*`. `host`: the value of the header. */
  find(host: string | undefined, url: string): GatewayRoute | undefined {
    const own = this.#byHost.size > 0 && host !== undefined ? this.#byHost.get(hostname(host)) : undefined
    return (own && firstMatch(own, url)) ?? firstMatch(this.#anyHost, url) ?? this.#entry
  }

  /** All routes that can match requests for `host`, in the order of {@link find}. */
  all(host: string | undefined): readonly GatewayRoute[] {
    const own = host === undefined ? undefined : this.#byHost.get(hostname(host))
    return [...(own ?? []), ...this.#anyHost, ...(this.#entry === undefined ? [] : [this.#entry])]
  }

  /** True if the host has routes of its own. */
  knowsHost(host: string | undefined): boolean {
    return host !== undefined && this.#byHost.has(hostname(host))
  }

  /** Up to three prefixes that are similar to the path, the most similar first. */
  nearest(host: string | undefined, url: string): readonly string[] {
    const path = url.split('?', 1)[0]!.slice(0, longestCompared)
    const own = host === undefined ? undefined : this.#byHost.get(hostname(host))
    return [...new Set([...(own ?? []), ...this.#anyHost].map((route) => route.prefix || '/'))]
      .map((prefix) => ({ prefix, distance: distance(path.slice(0, prefix.length + 1), prefix) }))
      .sort((one, other) => one.distance - other.distance)
      .slice(0, 3)
      .map(({ prefix }) => prefix)
  }
}

/** Limits the cost of the comparison: it is the product of both lengths, and clients choose one. */
const longestCompared = 128

function toGatewayRoute(
  { host, prefix, service, strip, clientCertificate }: Route,
  sticky: Sticky | undefined,
  usual: ClientCertificate = 'optional',
): GatewayRoute {
  return {
    host,
    prefix,
    strippedPrefix: strip === false ? '' : prefix,
    service,
    sticky,
    needsClientCertificate: (clientCertificate ?? usual) === 'required',
    scope: { service, hops: 0 },
  }
}

/** `routes` are sorted by the length of their prefixes. */
function firstMatch(routes: readonly GatewayRoute[], url: string): GatewayRoute | undefined {
  for (const route of routes) if (matches(route.prefix, url)) return route
  return undefined
}

/** `/shop` matches `/shop`, `/shop/x` and `/shop?x`, but not `/shopping`. */
function matches(prefix: string, url: string): boolean {
  if (prefix === '') return true
  if (!url.startsWith(prefix)) return false
  const next = url.charAt(prefix.length)
  return next === '' || next === '/' || next === '?'
}

/** Without the port, and without the dot that may end a fully qualified name. */
function hostname(host: string): string {
  return unbracketed(host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, ''))
}

/** IPv6 addresses have brackets in a Host header; a config may omit them. */
function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
