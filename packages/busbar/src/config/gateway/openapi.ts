import { basename } from 'node:path'
import type { GatewayConfig, OpenApi, Route, Service } from '../app.ts'
import { readPackageJson } from '../file/package-json.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import type { ParsedService } from '../schema/service-schema.ts'

/** Default path of a typed service's document. */
const typedPath = '/openapi.json'

/**
 * Path at which a service publishes its document. Undefined if it has none, or the config turns it
 * off.
 */
export function openApiPathOf(
  kind: Service['kind'],
  { openapi }: ParsedService,
  { gateway }: ParsedConfig,
): string | undefined {
  if (gateway.openapi === false || openapi === false) return undefined
  return openapi ?? (kind === 'typed' ? typedPath : undefined)
}

export interface OpenApiContext {
  readonly root: string
  readonly config: ParsedConfig
  readonly services: readonly Service[]
}

/**
 * The app has a document if the config asks for it, or if the gateway leads to a service that has
 * one.
 */
export async function resolveOpenApi(
  { root, config, services }: OpenApiContext,
  { entry, routes }: Pick<GatewayConfig, 'entry' | 'routes'>,
  problems: Problems,
): Promise<OpenApi | undefined> {
  const { openapi } = config.gateway
  const isConfigured = openapi !== undefined
  const reached = new Set([entry, ...routes.map(({ service }) => service)])
  const isDescribed = services.some((service) => service.openapi !== undefined && reached.has(service.name))
  if (openapi === false || (!isConfigured && !isDescribed)) return undefined
  const options = typeof openapi === 'object' ? openapi : {}
  const { path = '/openapi.json', page = '/docs', title, version } = options
  for (const key of ['path', 'page'] as const) checkFree(key, options[key], routes, problems)
  const file = await readPackageJson(root)
  return {
    path,
    page: page === false ? undefined : page,
    beforeEntry: isConfigured,
    title: title ?? file?.name ?? basename(root),
    version: version ?? file?.version ?? '0.0.0',
  }
}

/** Routes precede the document, so a path below one could not be reached. */
function checkFree(key: string, path: string | false | undefined, routes: readonly Route[], problems: Problems): void {
  const taking = routes.find(({ host, prefix }) => host === undefined && prefix !== '' && isBelow(path, prefix))
  if (taking === undefined) return
  problems.add('CONFIG_INVALID', {
    message: `gateway.openapi.${key} is "${String(path)}", which the route "${taking.prefix}" matches`,
    hint: 'Choose another path.',
  })
}

function isBelow(path: string | false | undefined, prefix: string): boolean {
  return path === prefix || (typeof path === 'string' && path.startsWith(`${prefix}/`))
}
