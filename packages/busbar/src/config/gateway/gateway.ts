import { BusbarError } from '../../contract/errors.ts'
import { isOwnAddress } from './listen-addresses.ts'
import type { Address, GatewayConfig, Grpc, Route } from '../app.ts'
import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'
import { type OpenApiContext, resolveOpenApi } from './openapi.ts'
import { parseRoute, routeId } from './routes.ts'
import type { ParsedRoute } from '../schema/gateway-schema.ts'
import { resolveTls } from './tls-options.ts'

export interface GatewayContext extends OpenApiContext {
  readonly env: NodeJS.ProcessEnv
  /** All services of the config, including those that could not be resolved. */
  readonly names: readonly string[]
  /** Those of this app: a service of another one gets no route by itself. */
  readonly own: readonly string[]
}

/**
 * Without `entry` and `routes`, a sole service is the entry, and several are served at `/<name>`.
 */
export async function resolveGateway(context: GatewayContext, problems: Problems): Promise<GatewayConfig> {
  const { root, config, own } = context
  const { host, entry, routes, cors, entrance, balance, raw, probes, grpc } = config.gateway
  const address = { host, port: config.gateway.port ?? portFromEnv(context.env, problems) }
  const tls = await resolveTls(root, config.gateway, address, problems)
  if (entry !== undefined) checkService('gateway.entry', entry, address, context, problems)
  const routing =
    entry !== undefined || routes !== undefined
      ? { entry, routes: resolveRoutes(routes ?? {}, address, context, problems) }
      : own.length === 1
        ? { entry: own[0], routes: [] }
        : { entry, routes: own.map(byName) }
  const openapi = await resolveOpenApi(context, routing, problems)
  return {
    ...address,
    entrance,
    ...(balance !== undefined && { balance }),
    ...(raw !== undefined && { raw }),
    tls,
    ...routing,
    ...(openapi !== undefined && { openapi }),
    ...(cors !== undefined && { cors }),
    ...(probes !== undefined && { probes }),
    ...(grpc !== undefined && grpc !== false && { grpc: grpcOf(grpc) }),
  }
}

function grpcOf(grpc: Exclude<GatewayContext['config']['gateway']['grpc'], undefined | false>): Grpc {
  return { reflection: grpc === true || grpc.reflection !== false }
}

/** The default port: that of the variable `PORT`, which hosting platforms set, else 3000. */
function portFromEnv(env: NodeJS.ProcessEnv, problems: Problems): number {
  const value = env['PORT']
  if (value === undefined || value === '') return 3000
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  problems.add('CONFIG_INVALID', {
    message: `the environment variable PORT is ${JSON.stringify(value)}, which is not a port`,
    hint: 'Set it to a number from 0 to 65535, or set gateway.port.',
  })
  return 0
}

function byName(name: string): Route {
  return { host: undefined, prefix: `/${name}`, service: name }
}

function resolveRoutes(
  routes: Readonly<Record<string, ParsedRoute>>,
  address: Address,
  context: GatewayContext,
  problems: Problems,
): Route[] {
  const taken = new Map<string, string>(context.config.gateway.entry === undefined ? [] : [['', 'gateway.entry']])
  return Object.entries(routes).flatMap(([key, value]) => {
    const target = typeof value === 'string' ? { service: value } : value
    checkService(`gateway.routes[${JSON.stringify(key)}]`, target.service, address, context, problems)
    try {
      const route = parseRoute(key, target)
      checkFree(route, key, taken)
      checkHost(route, key, context.names)
      return [route]
    } catch (error) {
      problems.addFrom(error)
      return []
    }
  })
}

function checkFree(route: Route, key: string, taken: Map<string, string>): void {
  const earlier = taken.get(routeId(route))
  taken.set(routeId(route), JSON.stringify(key))
  if (earlier !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `gateway.routes: ${JSON.stringify(key)} matches the same requests as ${earlier}`,
      hint: 'Keep one of them.',
    })
}

/** Calls to `<name>.internal` do not pass the gateway, so a route with that host never matches. */
function checkHost({ host }: Route, key: string, names: readonly string[]): void {
  const name = host?.endsWith('.internal') ? host.slice(0, -'.internal'.length) : undefined
  if (name === undefined || !names.includes(name)) return
  throw new BusbarError('ROUTE_LOOP', {
    message: `gateway.routes: ${JSON.stringify(key)} is the address of service '${name}' inside the app, and calls to it do not pass the gateway`,
    hint: 'Give the route a host that external clients use.',
  })
}

function checkService(
  where: string,
  name: string,
  address: Address,
  { names, services }: GatewayContext,
  problems: Problems,
): void {
  if (names.includes(name)) return
  if (isOwnAddress(name, address, services))
    return problems.add('ROUTE_LOOP', {
      message: `${where} leads to ${name}, an address of this app: the request would come back to it`,
      hint: `Give the name of a service: ${names.join(', ')}.`,
    })
  const near = nearest(name, names)
  problems.add('ROUTE_UNKNOWN_SERVICE', {
    message: `${where} names ${JSON.stringify(name)}, which is not a service${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? `The services are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}
