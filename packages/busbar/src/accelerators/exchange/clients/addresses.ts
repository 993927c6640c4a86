import type { Router } from '../../../mesh/routing/router.ts'

/** A service, as a URL names it. */
export interface Address {
  readonly service: string
  /** The origin of the parsed URL: `http://catalog.internal`. */
  readonly origin: string
  /** Value of the `Host` header. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

/** A URL of one of the app's services. */
export interface ServiceUrl {
  readonly address: Address
  /** Path and query. */
  readonly path: string
  /** The whole URL without its fragment, as `new URL()` serializes it. */
  readonly href: string
}

/** Number of origins that are cached. Parsing a URL costs as much as the rest of a call. */
const maxCached = 1000

/**
 * Paths that `new URL()` does not change, unless they have a dot segment (also with an encoded dot)
 * or an empty query.
 */
const normalizedPath = /^\/[A-Za-z0-9\-._~!$&()*+,;=:@/%?]*$/
const dotOrEmptyQuery = /\/(?:\.|%2)|\?$/

/** Recognizes the URLs of the app's services, mostly without parsing. */
export class ServiceAddresses {
  readonly #router: Router
  readonly #known = new Map<string, Address | undefined>()

  constructor(router: Router) {
    this.#router = router
  }

  /** `origin`: `http://catalog.internal`, as a dispatcher gets it. */
  ofOrigin(origin: string): Address | undefined {
    return this.#known.has(origin) ? this.#known.get(origin) : this.#learn(origin)
  }

  /** Undefined for other URLs, also for a service's URL with credentials or another scheme. */
  ofUrl(url: string): ServiceUrl | undefined {
    if (!url.startsWith('http://')) return undefined
    const slash = url.indexOf('/', 7)
    if (slash === -1) return this.#parse(url)
    const address = this.ofOrigin(url.slice(0, slash))
    if (address === undefined) return this.#parse(url)
    const path = url.slice(slash)
    if (!normalizedPath.test(path) || dotOrEmptyQuery.test(path)) return this.#parse(url)
    return { address, path, href: address.origin + path }
  }

  #parse(text: string): ServiceUrl | undefined {
    // Most URLs of other servers return here. Characters that IDNA maps to the name are not
    // recognized; the dispatcher gets these URLs parsed.
    if (!/\.internal/i.test(text) || !URL.canParse(text)) return undefined
    const url = new URL(text)
    if (url.username !== '' || url.password !== '') return undefined
    const address = this.ofOrigin(url.origin)
    if (address === undefined || address.secure) return undefined
    const path = url.pathname + url.search
    // Only the href shows an empty query.
    if (url.href.length - url.hash.length !== url.origin.length + path.length) return undefined
    return { address, path, href: address.origin + path }
  }

  #learn(origin: string): Address | undefined {
    if (this.#known.size >= maxCached) this.#known.clear()
    const address = this.#resolve(origin)
    // Cached under its parsed form only: `ofUrl` assumes that.
    if (address === undefined || address.origin === origin) this.#known.set(origin, address)
    return address?.origin === origin ? address : undefined
  }

  #resolve(origin: string): Address | undefined {
    if (!URL.canParse(origin)) return undefined
    const url = new URL(origin)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    const secure = url.protocol === 'https:'
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
    const { hostname } = url
    const service = secure ? this.#router.serviceOf(hostname) : this.#router.serviceAt(hostname, port)
    if (service === undefined) return undefined
    return { service, origin: url.origin, host: url.host, port, secure }
  }
}
