import type { Contract } from '../../contract.ts'
import { distance } from 'fastest-levenshtein'
import type { Method } from '../../method.ts'
import type { HttpMapping, PathSegment } from './http-mapping.ts'

/** The method that a request matches, and its path parameters. */
export interface RouteMatch {
  readonly name: string
  readonly mapping: HttpMapping | undefined
  readonly parameters: Readonly<Record<string, string>> | undefined
}

const verbs: readonly HttpMapping['verb'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface MappedRoute {
  readonly name: string
  readonly mapping: HttpMapping
}

/**
 * Matches requests to methods. Methods without a mapping match `POST /<service>/<method>` and
 * `POST /<method>` (a route of the gateway may have removed the service's name). Then come the
 * mappings, fixed text before parameters.
 */
export class MethodRoutes {
  readonly #service: string
  readonly #contract: Contract
  readonly #mapped: readonly MappedRoute[]
  /**
   * Methods without a mapping, by path. Undefined for a plain class, whose methods are not known in
   * advance.
   */
  readonly #unmapped: ReadonlyMap<string, RouteMatch> | undefined

  constructor(service: string, contract: Contract) {
    this.#service = service
    this.#contract = contract
    this.#mapped = Object.entries(contract.methods)
      .flatMap(([name, { http }]) => (http === undefined ? [] : [{ name, mapping: http }]))
      .toSorted((one, other) => specificity(other.mapping) - specificity(one.mapping))
    this.#unmapped = unmappedRoutes(contract, service)
  }

  /** `path` has no query. Undefined if no method matches the path with this verb. */
  find(verb: string, path: string): RouteMatch | undefined {
    const named = verb === 'POST' ? this.#byName(path) : undefined
    return named ?? this.#byMapping(verb, path)
  }

  /**
   * All methods at a path, whatever the verb; none for a plain class, whose methods are not known.
   */
  findAll(path: string): readonly (RouteMatch & { readonly verb: string })[] {
    if (this.#unmapped === undefined) return []
    return verbs.flatMap((verb) => {
      const found = this.find(verb, path)
      return found === undefined ? [] : [{ ...found, verb }]
    })
  }

  /**
   * The nearest paths, for an error: one per method, with or without the service's name, whichever
   * is nearer.
   */
  nearest(path: string): string[] {
    const asked = path.slice(0, 128)
    const byDistance = (texts: readonly string[]) =>
      texts
        .map((text) => ({ text, far: distance(asked, text.slice(text.indexOf(' ') + 1)) }))
        .toSorted((one, other) => one.far - other.far)
        .map(({ text }) => text)
    const nearestOfEach = Object.entries(this.#contract.methods).map(([name, method]) => {
      const whole = pathOf(this.#service, name, method)
      return method.http === undefined ? byDistance([whole, `POST /${name}`])[0]! : whole
    })
    return byDistance(nearestOfEach).slice(0, 3)
  }

  #byName(path: string): RouteMatch | undefined {
    if (this.#unmapped !== undefined) return this.#unmapped.get(path)
    const prefix = `/${this.#service}/`
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : path.slice(1)
    return name.includes('/') || name === '' ? undefined : unmappedRoute(name)
  }

  #byMapping(verb: string, path: string): RouteMatch | undefined {
    if (this.#mapped.length === 0) return undefined
    const parts = path.split('/').slice(1)
    for (const { name, mapping } of this.#mapped) {
      if (mapping.verb !== verb || mapping.segments.length !== parts.length) continue
      const parameters = match(mapping.segments, parts)
      if (parameters !== undefined) return { name, mapping, parameters }
    }
    return undefined
  }
}

function unmappedRoutes({ methods }: Contract, service: string): ReadonlyMap<string, RouteMatch> | undefined {
  const names = Object.keys(methods)
  if (names.length === 0) return undefined
  const unmapped = names.filter((name) => methods[name]!.http === undefined).map(unmappedRoute)
  return new Map(
    unmapped.flatMap((found) => [`/${service}/${found.name}`, `/${found.name}`].map((path) => [path, found])),
  )
}

function unmappedRoute(name: string): RouteMatch {
  return { name, mapping: undefined, parameters: undefined }
}

/** In the notation `POST /catalog/product`. */
export function pathOf(service: string, name: string, { http }: Method): string {
  return http === undefined ? `POST /${service}/${name}` : `${http.verb} ${http.path}`
}

/**
 * Sort key: `/products/top` comes before `/products/{id}`; the earlier its first parameter, the
 * later a path.
 */
function specificity({ segments }: HttpMapping): number {
  return segments.reduce((sum, segment) => sum * 2 + ('text' in segment ? 1 : 0), 1)
}

function match(segments: readonly PathSegment[], parts: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {}
  for (const [at, segment] of segments.entries()) {
    const part = parts[at]!
    if ('text' in segment) {
      if (segment.text !== part) return undefined
      continue
    }
    const value = decode(part)
    if (value === undefined || value === '') return undefined
    parameters[segment.parameter] = value
  }
  return parameters
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
