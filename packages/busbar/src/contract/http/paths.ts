import type { Contract } from '../contract.ts'
import { distance } from 'fastest-levenshtein'
import type { Method } from '../method.ts'
import type { HttpMapping, Segment } from './mapping.ts'

/** A method that a request asks for, and what of its input stands in the path. */
export interface Found {
  readonly name: string
  readonly mapping: HttpMapping | undefined
  readonly parameters: Readonly<Record<string, string>> | undefined
}

const verbs: readonly HttpMapping['verb'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Way {
  readonly name: string
  readonly mapping: HttpMapping
}

/**
 * Which method a request asks for: `POST /<service>/<method>` and `POST /<method>` for those without a mapping of their
 * own (a route of the gateway may have cut the service's name off), and the mappings, fixed text before parameters.
 */
export class Paths {
  readonly #service: string
  readonly #contract: Contract
  readonly #ways: readonly Way[]
  /** By path, those without a mapping of their own. Undefined of a plain class: nobody knows its methods yet. */
  readonly #named: ReadonlyMap<string, Found> | undefined

  constructor(service: string, contract: Contract) {
    this.#service = service
    this.#contract = contract
    this.#ways = Object.entries(contract.methods)
      .flatMap(([name, { http }]) => (http === undefined ? [] : [{ name, mapping: http }]))
      .toSorted((one, other) => fixedness(other.mapping) - fixedness(one.mapping))
    this.#named = namedIn(contract, service)
  }

  /** `path` without its query. Undefined: there is no such method, or not with this verb. */
  find(verb: string, path: string): Found | undefined {
    const named = verb === 'POST' ? this.#byName(path) : undefined
    return named ?? this.#byMapping(verb, path)
  }

  /** What else a path has than what it was asked for; nothing for a class, of which nobody knows what it has. */
  findAll(path: string): readonly (Found & { readonly verb: string })[] {
    if (this.#named === undefined) return []
    return verbs.flatMap((verb) => {
      const found = this.find(verb, path)
      return found === undefined ? [] : [{ ...found, verb }]
    })
  }

  /** The nearest paths that there are, for whoever mistyped: one for each method, with the service's name or without as that is nearer. */
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

  #byName(path: string): Found | undefined {
    if (this.#named !== undefined) return this.#named.get(path)
    const prefix = `/${this.#service}/`
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : path.slice(1)
    return name.includes('/') || name === '' ? undefined : named(name)
  }

  #byMapping(verb: string, path: string): Found | undefined {
    if (this.#ways.length === 0) return undefined
    const parts = path.split('/').slice(1)
    for (const { name, mapping } of this.#ways) {
      if (mapping.verb !== verb || mapping.segments.length !== parts.length) continue
      const parameters = match(mapping.segments, parts)
      if (parameters !== undefined) return { name, mapping, parameters }
    }
    return undefined
  }
}

function namedIn({ methods }: Contract, service: string): ReadonlyMap<string, Found> | undefined {
  const names = Object.keys(methods)
  if (names.length === 0) return undefined
  const unmapped = names.filter((name) => methods[name]!.http === undefined).map(named)
  return new Map(
    unmapped.flatMap((found) => [`/${service}/${found.name}`, `/${found.name}`].map((path) => [path, found])),
  )
}

function named(name: string): Found {
  return { name, mapping: undefined, parameters: undefined }
}

/** `POST /catalog/product`: as people write it. */
export function pathOf(service: string, name: string, { http }: Method): string {
  return http === undefined ? `POST /${service}/${name}` : `${http.verb} ${http.path}`
}

/** `/products/top` comes before `/products/{id}`: the earlier a parameter, the later its turn. */
function fixedness({ segments }: HttpMapping): number {
  return segments.reduce((sum, segment) => sum * 2 + ('text' in segment ? 1 : 0), 1)
}

function match(segments: readonly Segment[], parts: readonly string[]): Record<string, string> | undefined {
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
