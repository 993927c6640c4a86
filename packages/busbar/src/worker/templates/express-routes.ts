import type { IncomingMessage } from 'node:http'
import { Mounts, type Param } from './express-mounts.ts'
import type { TemplateReports } from './template-reports.ts'

/** What Express adds to a request: the route that it has matched, and where that is mounted. */
interface ExpressRequest extends IncomingMessage {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly params?: unknown
}

/**
 * Express says which routes there are only when it has matched them: they are found in the first
 * request to each, and where a router is mounted, mostly in the second.
 */
export class ExpressRoutes {
  readonly #service: string
  readonly #reports: TemplateReports
  readonly #mounts = new WeakMap<object, Mounts>()

  constructor(service: string, reports: TemplateReports) {
    this.#service = service
    this.#reports = reports
  }

  /** Called with each request that was answered. The program may have set any property of it. */
  readonly answered = (request: IncomingMessage): void => {
    try {
      this.#look(request)
    } catch {
      // The program has other properties of these names.
    }
  }

  #look({ method, route, baseUrl, params }: ExpressRequest): void {
    if (typeof route !== 'object' || route === null) return
    const base = typeof baseUrl === 'string' ? baseUrl : ''
    const mounts = this.#mounts.get(route) ?? new Mounts()
    this.#mounts.set(route, mounts)
    if (!mounts.isOther(method!, base)) return
    const prefix = mounts.prefixFor(method!)
    const paths = [route.path].flat().filter((path) => typeof path === 'string')
    const mount = mounts.mountAt(base, ownParams(params, paths))
    if (mount === undefined) return
    const { path: mounted, found, withdrawn } = mount
    const templates = paths.map((path) => `${prefix}${path === '/' && mounted !== '' ? mounted : mounted + path}`)
    // What another route has, too, is not withdrawn with this one.
    for (const one of this.#reports.add(this.#service, templates, withdrawn)) found.add(one)
    if (!templates.every((one) => this.#reports.has(this.#service, one))) mounts.lookAgain()
  }
}

/** Those of the path at which the router is mounted, if the router merges them with its own. */
function ownParams(params: unknown, paths: readonly string[]): readonly Param[] {
  const ofRoute = new Set(paths.flatMap((path) => [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!)))
  return Object.entries(params ?? {}).filter(([name]) => /^\w+$/.test(name) && !ofRoute.has(name))
}
