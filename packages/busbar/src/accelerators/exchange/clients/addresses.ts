import type { Router } from '../../../mesh/router.ts'

/** A service as a URL names it. */
export interface Address {
  readonly service: string
  /** What the URL's origin reads after parsing: `http://catalog.internal`. */
  readonly origin: string
  /** What goes into the `Host` header. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

/** A URL that calls one of the app's services. */
export interface CalledUrl {
  readonly address: Address
  /** Path and query. */
  readonly path: string
  /** The whole, without fragment, as `new URL()` writes it. */
  readonly href: string
}

/** Spellings of authorities are remembered, since parsing a URL costs as much as a call's own work; no more than these. */
const maxRemembered = 1000

/** What `new URL()` leaves as it is, if there is neither a dot segment (an encoded dot counts as one) nor an empty query. */
const plain = /^\/[A-Za-z0-9\-._~!$&()*+,;=:@/%?]*$/
const special = /\/(?:\.|%2)|\?$/

/** Tells the app's own names from the network's, mostly without parsing a URL. */
export class Addresses {
  readonly #router: Router
  readonly #known = new Map<string, Address | undefined>()

  constructor(router: Router) {
    this.#router = router
  }

  /** `origin`: as a dispatcher is given it, `http://catalog.internal`. */
  ofOrigin(origin: string): Address | undefined {
    return this.#known.has(origin) ? this.#known.get(origin) : this.#learn(origin)
  }

  /** Undefined for the network's URLs, and for those that no service is called by (credentials, another scheme). */
  ofUrl(url: string): CalledUrl | undefined {
    if (!url.startsWith('http://')) return undefined
    const slash = url.indexOf('/', 7)
    if (slash === -1) return this.#parse(url)
    const address = this.ofOrigin(url.slice(0, slash))
    if (address === undefined) return this.#parse(url)
    const path = url.slice(slash)
    if (!plain.test(path) || special.test(path)) return this.#parse(url)
    return { address, path, href: address.origin + path }
  }

  #parse(text: string): CalledUrl | undefined {
    // Most calls of the network end here: whatever does not contain the name cannot spell it (but for exotic
    // letters that IDNA folds into it, which the dispatcher meets in their parsed form).
    if (!/\.internal/i.test(text) || !URL.canParse(text)) return undefined
    const url = new URL(text)
    if (url.username !== '' || url.password !== '') return undefined
    const address = this.ofOrigin(url.origin)
    if (address === undefined || address.secure) return undefined
    const path = url.pathname + url.search
    // An empty query is seen in the href alone.
    if (url.href.length - url.hash.length !== url.origin.length + path.length) return undefined
    return { address, path, href: address.origin + path }
  }

  #learn(origin: string): Address | undefined {
    if (this.#known.size >= maxRemembered) this.#known.clear()
    const address = this.#resolve(origin)
    // Under its parsed spelling only: `ofUrl` takes what it finds here for already parsed.
    if (address === undefined || address.origin === origin) this.#known.set(origin, address)
    return address?.origin === origin ? address : undefined
  }

  #resolve(origin: string): Address | undefined {
    if (!URL.canParse(origin)) return undefined
    const url = new URL(origin)
    const service = this.#router.serviceOf(url.hostname)
    if (service === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
    const secure = url.protocol === 'https:'
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
    return { service, origin: url.origin, host: url.host, port, secure }
  }
}
