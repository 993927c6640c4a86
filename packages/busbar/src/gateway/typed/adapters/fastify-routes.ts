import type { Contract } from '../../../contract/contract.ts'
import { isPlainContract } from '../../../contract/plain-contract.ts'
import type { HttpMapping } from '../../../contract/http/mapping/http-mapping.ts'

export interface ServiceRoute {
  readonly verb: HttpMapping['verb']
  /** In Fastify's syntax: `/products/:id`. */
  readonly url: string
  /** Undefined for a class without a contract: then the path contains the name. */
  readonly name: string | undefined
  readonly kind: 'fn' | 'stream'
  readonly mapping: HttpMapping | undefined
  /** True for the second path of a method, without the service's name. */
  readonly isShort: boolean
}

/** The path parameter with the method's name, for a class. */
export const methodParameter = 'method'

export function routesOf(contract: Contract): readonly ServiceRoute[] {
  const routes = isPlainContract(contract)
    ? namedRoutes(contract, `:${methodParameter}`, { name: undefined, kind: 'fn' })
    : Object.entries(contract.methods).flatMap(([name, { kind, http }]) =>
        http === undefined
          ? namedRoutes(contract, name, { name, kind })
          : [{ verb: http.verb, url: urlOf(http), name, kind, mapping: http, isShort: false }],
      )
  // A mapping may equal the short path of another method. The mapping has priority.
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
