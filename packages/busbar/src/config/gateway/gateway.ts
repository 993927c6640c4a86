import { resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { isOwnAddress } from './addresses.ts'
import type { Address, Gateway, Route } from '../app.ts'
import type { GatewayContext } from './gateway-context.ts'
import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'
import { resolveOpenApi } from './openapi.ts'
import { parseRoute, routeId } from './routes.ts'
import type { ParsedRoute } from '../schema/schema.ts'
import { readTlsFiles } from './tls.ts'

/** The public entrance. One service and nothing said: it is the entry; several: each at `/<name>`. */
export async function resolveGateway(context: GatewayContext, problems: Problems): Promise<Gateway> {
  const { root, config, names } = context
  const { host, entry, routes, tls, cors } = config.gateway
  const address = { host, port: config.gateway.port ?? portFromEnv(context.env, problems) }
  const files = tls && { cert: resolve(root, tls.cert), key: resolve(root, tls.key) }
  if (files !== undefined) await problems.collect(() => readTlsFiles(files))
  if (entry !== undefined) checkService('gateway.entry', entry, address, context, problems)
  const ways =
    entry !== undefined || routes !== undefined
      ? { entry, routes: resolveRoutes(routes ?? {}, address, context, problems) }
      : names.length === 1
        ? { entry: names[0], routes: [] }
        : { entry, routes: names.map(byName) }
  const openapi = await resolveOpenApi(context, ways, problems)
  return {
    ...address,
    tls: files,
    ...ways,
    ...(openapi !== undefined && { openapi }),
    ...(cors !== undefined && { cors }),
  }
}

/** Where the config names no port: the variable that hosting platforms set, else 3000. */
function portFromEnv(env: NodeJS.ProcessEnv, problems: Problems): number {
  const said = env['PORT']
  if (said === undefined || said === '') return 3000
  if (/^\d{1,5}$/.test(said) && Number(said) <= 65_535) return Number(said)
  problems.add('CONFIG_INVALID', {
    message: `the environment variable PORT is ${JSON.stringify(said)}, which is no port`,
    hint: 'Set it to a number from 0 to 65535, or give gateway.port.',
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
  return Object.entries(routes).flatMap(([key, said]) => {
    const target = typeof said === 'string' ? { service: said } : said
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
      message: `gateway.routes: ${JSON.stringify(key)} takes the same requests as ${earlier}`,
      hint: 'Keep one of them.',
    })
}

/** A service calls another by `<name>.internal` without the gateway, so that a route for it would never be taken there. */
function checkHost({ host }: Route, key: string, names: readonly string[]): void {
  const name = host?.endsWith('.internal') ? host.slice(0, -'.internal'.length) : undefined
  if (name === undefined || !names.includes(name)) return
  throw new BusbarError('ROUTE_LOOP', {
    message: `gateway.routes: ${JSON.stringify(key)} is the address of service ${name} inside the app, where it never reaches the gateway`,
    hint: 'Give the route a host that clients outside know.',
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
      message: `${where} leads to ${name}, which is this app: the request would come in again`,
      hint: `Name a service: ${names.join(', ')}.`,
    })
  const near = nearest(name, names)
  problems.add('ROUTE_UNKNOWN_SERVICE', {
    message: `${where} names ${JSON.stringify(name)}, which is no service${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}
