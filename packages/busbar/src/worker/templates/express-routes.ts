import type { IncomingMessage } from 'node:http'
import { Mounts, type Param } from './express-mounts.ts'
import type { TemplateReports } from './template-reports.ts'

/** What Express adds to a request: the route that it has matched, and where that is mounted. */
interface ExpressRequest extends IncomingMessage {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
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

  #look({ method, route, baseUrl, params, originalUrl }: ExpressRequest): void {
    if (typeof route !== 'object' || route === null) return
    const base = typeof baseUrl === 'string' ? baseUrl : ''
    const mounts = this.#mounts.get(route) ?? new Mounts()
    this.#mounts.set(route, mounts)
    if (!mounts.isOther(method!, base)) return
    const prefix = mounts.prefixFor(method!)
    const paths = [route.path].flat().filter((path) => typeof path === 'string')
    const known = (): string | undefined => this.#reports.match(this.#service, method!, String(originalUrl))
    const mounted = mounts.templateOf(base, ownParams(params, paths), () => mountOf(known(), paths))
    if (mounted === undefined) return
    const templates = paths.map((path) => `${prefix}${path === '/' && mounted !== '' ? mounted : mounted + path}`)
    this.#reports.add(this.#service, templates)
  }
}

/** Those of the path at which the router is mounted, if the router merges them with its own. */
function ownParams(params: unknown, paths: readonly string[]): readonly Param[] {
  const isOfRoute = (name: string): boolean => paths.some((path) => path.includes(`:${name}`))
  return Object.entries(params ?? {}).filter(([name]) => /^\w+$/.test(name) && !isOfRoute(name))
}

/** What comes before one of these paths of a route. */
function mountOf(template: string | undefined, paths: readonly string[]): string | undefined {
  const end = paths.find((path) => path !== '/' && template?.endsWith(path))
  if (end !== undefined) return template!.slice(0, -end.length)
  return paths.includes('/') ? template : undefined
}
