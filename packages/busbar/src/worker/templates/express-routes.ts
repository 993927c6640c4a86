import type { IncomingMessage } from 'node:http'
import type { TemplateReports } from './template-reports.ts'

/** What Express adds to a request: the route that it has matched, and where that is mounted. */
interface ExpressRequest extends IncomingMessage {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly params?: unknown
}

/**
 * Express says which routes there are only when it has matched them: they are found in the first
 * request to each.
 */
export class ExpressRoutes {
  readonly #service: string
  readonly #reports: TemplateReports
  /** Where each route was last found, with its methods: most requests are of a known one. */
  readonly #seen = new WeakMap<object, string>()

  constructor(service: string, reports: TemplateReports) {
    this.#service = service
    this.#reports = reports
  }

  /** Called with each request that was answered. The program may have set any property of it. */
  readonly answered = (request: IncomingMessage): void => {
    const { route } = request as ExpressRequest
    if (typeof route !== 'object' || route === null) return
    const { baseUrl, params } = request as ExpressRequest
    const base = typeof baseUrl === 'string' ? baseUrl : ''
    const where = `${request.method} ${base}`
    if (this.#seen.get(route) === where) return
    this.#seen.set(route, where)
    const paths = [route.path].flat().filter((path) => typeof path === 'string')
    const templates = paths.map((path) => {
      const mounted = templateOf(base, params, path)
      return `${request.method} ${path === '/' && mounted !== '' ? mounted : mounted + path}`
    })
    this.#reports.add(this.#service, templates)
  }
}

/** Numbers, UUIDs and hexadecimal ids. */
const idForm = /^(?:\d+|[\da-f]{8}-[\da-f-]{27}|(?=.*\d)[\da-f]{8,})$/i

/**
 * The path at which a router is mounted has the values of its parameters, not their names. Those
 * are known if the router merges them with the ones of `path`, its own.
 */
function templateOf(base: string, params: unknown, path: string): string {
  const names = Object.entries(params ?? {}).filter(([name]) => !path.includes(`:${name}`))
  return base
    .split('/')
    .map((segment) => {
      const at = segment === '' ? -1 : names.findIndex(([, value]) => value === segment)
      if (at !== -1) return `:${names.splice(at, 1)[0]![0]}`
      return idForm.test(segment) ? ':id' : segment
    })
    .join('/')
}
