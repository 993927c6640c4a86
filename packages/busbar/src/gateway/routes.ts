import { distance } from 'fastest-levenshtein'
import type { Gateway, Route } from '../config/app.ts'
import type { Scope } from '../mesh/scope.ts'

/** A way in, as the gateway follows it. */
export interface Way {
  readonly host: string | undefined
  /** Begins the paths that it takes; '' for all. */
  readonly prefix: string
  /** What is cut off the path before the service sees it: the prefix, or '' for nothing. */
  readonly cut: string
  readonly service: string
  /** What the service runs in when it answers: nobody called it but the outside. */
  readonly scope: Scope
}

/** Who takes a request: the routes of its host, then those of any host, the longest prefix first; then the entry. */
export class Routes {
  readonly #byHost = new Map<string, readonly Way[]>()
  readonly #anyHost: readonly Way[]
  readonly #entry: Way | undefined

  constructor({ routes, entry }: Pick<Gateway, 'routes' | 'entry'>) {
    const ways = routes.map(toWay).sort((one, other) => other.prefix.length - one.prefix.length)
    this.#anyHost = ways.filter(({ host }) => host === undefined)
    for (const [host, own] of Map.groupBy(ways, (way) => way.host))
      if (host !== undefined) this.#byHost.set(unbracketed(host), own)
    this.#entry = entry === undefined ? undefined : toWay({ host: undefined, prefix: '', service: entry })
  }

  /** `url` starts with a slash, or is `*`. `host` as the header states it. */
  find(host: string | undefined, url: string): Way | undefined {
    const own = this.#byHost.size > 0 && host !== undefined ? this.#byHost.get(hostname(host)) : undefined
    return (own && longest(own, url)) ?? longest(this.#anyHost, url) ?? this.#entry
  }

  /** All that requests for `host` can be taken by, the likeliest first. */
  ways(host: string | undefined): readonly Way[] {
    const own = host === undefined ? undefined : this.#byHost.get(hostname(host))
    return [...(own ?? []), ...this.#anyHost, ...(this.#entry === undefined ? [] : [this.#entry])]
  }

  /** The hosts that have routes of their own. */
  knowsHost(host: string | undefined): boolean {
    return host !== undefined && this.#byHost.has(hostname(host))
  }

  /** Up to three prefixes that a mistyped path may have meant, the likeliest first. */
  nearest(host: string | undefined, url: string): readonly string[] {
    const asked = url.split('?', 1)[0]!.slice(0, longestCompared)
    const own = host === undefined ? undefined : this.#byHost.get(hostname(host))
    return [...new Set([...(own ?? []), ...this.#anyHost].map((way) => way.prefix || '/'))]
      .map((prefix) => ({ prefix, far: distance(asked.slice(0, prefix.length + 1), prefix) }))
      .sort((one, other) => one.far - other.far)
      .slice(0, 3)
      .map(({ prefix }) => prefix)
  }
}

/** The comparison costs the product of both lengths, and a client chooses one of them. */
const longestCompared = 128

/**
 * What the service sees: `/shop/x` without `/shop` is `/x`, and `/shop` itself `/`. More than one slash behind the prefix
 * becomes one, since a path that begins with two is read as a host by URL parsers, and as a redirect by browsers.
 */
export function cutPrefix(url: string, prefix: string): string {
  if (prefix === '') return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('//') ? rest.replace(/^\/+/, '/') : rest
}

function toWay({ host, prefix, service, strip }: Route): Way {
  return { host, prefix, cut: strip === false ? '' : prefix, service, scope: { service, hops: 0 } }
}

function longest(ways: readonly Way[], url: string): Way | undefined {
  for (const way of ways) if (takes(way.prefix, url)) return way
  return undefined
}

/** `/shop` takes `/shop`, `/shop/x` and `/shop?x`, but not `/shopping`. */
function takes(prefix: string, url: string): boolean {
  if (prefix === '') return true
  if (!url.startsWith(prefix)) return false
  const next = url.charAt(prefix.length)
  return next === '' || next === '/' || next === '?'
}

/** Without its port, and without the dot that may end a full name. */
function hostname(host: string): string {
  return unbracketed(host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, ''))
}

/** An IPv6 address is written with brackets before a port; a config may leave them away. */
function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
