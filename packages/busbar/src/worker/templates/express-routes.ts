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
    const templates = [route.path].flat().flatMap((path) => {
      if (typeof path !== 'string') return []
      const mounted = mounts.templateOf(base, ownParams(params, path))
      return mounted === undefined ? [] : [`${prefix}${path === '/' && mounted !== '' ? mounted : mounted + path}`]
    })
    this.#reports.add(this.#service, templates)
  }
}

/** A segment of a path without the syntax of a template. It comes from a client. */
const plain = /^[\w.~%-]*$/
/** Numbers, UUIDs and hexadecimal ids. */
const idForm = /^(?:\d+|[\da-f]{8}-[\da-f-]{27}|(?=.*\d)[\da-f]{8,})$/i
/** Of one route. */
const maxShapes = 3
const maxMethods = 2

/**
 * Where a route was found. Express has the path at which its router is mounted, with the values of
 * parameters, which clients choose, instead of their names. So what differs between two of these
 * paths is a parameter from then on, and one route has a few templates only.
 */
class Mounts {
  /** The segments that each has had, by their number. Undefined: a parameter. */
  readonly #shapes = new Map<number, (string | undefined)[]>()
  readonly #methods = new Set<string>()
  #last = ''

  /** Than at the last request. */
  isOther(method: string, base: string): boolean {
    const last = this.#last
    this.#last = `${method} ${base}`
    return this.#last !== last
  }

  /** What comes before a template: a route of many methods, as of `app.all`, has one for all. */
  prefixFor(method: string): string {
    // Express answers HEAD by the routes of GET.
    const own = method === 'HEAD' ? 'GET' : method
    if (this.#methods.size <= maxMethods) this.#methods.add(own)
    return this.#methods.size > maxMethods ? '' : `${own} `
  }

  /** Undefined: there are too many to tell. */
  templateOf(base: string, params: readonly Param[]): string | undefined {
    const segments = base.split('/')
    const shape = this.#shapes.get(segments.length)
    if (shape === undefined && this.#shapes.size === maxShapes) return undefined
    const next = segments.map((segment, at) => {
      const isParam = params.some(([, value]) => value === segment)
      const isFixed = plain.test(segment) && !idForm.test(segment) && !isParam
      if (!isFixed) return undefined
      return shape === undefined ? segment : sameText(shape[at], segment)
    })
    this.#shapes.set(segments.length, next)
    const left = [...params]
    const nameOf = (value: string): string => {
      const found = left.findIndex((one) => one[1] === value)
      return found === -1 ? 'id' : left.splice(found, 1)[0]![0]
    }
    return next.map((segment, at) => segment ?? `:${nameOf(segments[at]!)}`).join('/')
  }
}

/** Express ignores the case. Undefined if they differ in more than that. */
function sameText(known: string | undefined, segment: string): string | undefined {
  if (known?.toLowerCase() !== segment.toLowerCase()) return undefined
  return segment === segment.toLowerCase() ? segment : known
}

/** Those of the path at which the router is mounted, if the router merges them with its own. */
function ownParams(params: unknown, path: string): readonly Param[] {
  return Object.entries(params ?? {}).filter(([name]) => !path.includes(`:${name}`) && /^\w+$/.test(name))
}

type Param = readonly [name: string, value: unknown]
