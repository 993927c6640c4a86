import type { Contract } from '../../../contract/contract.ts'
import { isPlain } from '../../../contract/plain.ts'
import type { HttpMapping } from '../../../contract/http/mapping.ts'

export interface ServiceRoute {
  readonly verb: HttpMapping['verb']
  /** As Fastify writes it, `/products/:id`. */
  readonly url: string
  /** Undefined of a class without a contract: it stands in the path. */
  readonly name: string | undefined
  readonly kind: 'fn' | 'stream'
  readonly mapping: HttpMapping | undefined
  /** Whether it is a second path of its method, without the service's name. */
  readonly isShort: boolean
}

/** The parameter in whose place the method of a class stands. */
export const methodParameter = 'method'

export function routesOf(contract: Contract): readonly ServiceRoute[] {
  const routes = isPlain(contract)
    ? namedRoutes(contract, `:${methodParameter}`, { name: undefined, kind: 'fn' })
    : Object.entries(contract.methods).flatMap(([name, { kind, http }]) =>
        http === undefined
          ? namedRoutes(contract, name, { name, kind })
          : [{ verb: http.verb, url: urlOf(http), name, kind, mapping: http, isShort: false }],
      )
  // A mapping may be the short path of another method: the method's own path comes first.
  const own = new Set(routes.filter(({ isShort }) => !isShort).map(keyOf))
  return routes.filter((route) => !route.isShort || !own.has(keyOf(route)))
}

function namedRoutes(
  { name: service }: Contract,
  segment: string,
  method: Pick<ServiceRoute, 'name' | 'kind'>,
): ServiceRoute[] {
  const route = { verb: 'POST', mapping: undefined, ...method } as const
  return [
    { ...route, url: `/${service}/${segment}`, isShort: false },
    { ...route, url: `/${segment}`, isShort: true },
  ]
}

function urlOf({ segments }: HttpMapping): string {
  return segments.map((segment) => ('text' in segment ? `/${segment.text}` : `/:${segment.parameter}`)).join('')
}

function keyOf({ verb, url }: ServiceRoute): string {
  return `${verb} ${url}`
}
