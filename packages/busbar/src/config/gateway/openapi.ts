import { basename } from 'node:path'
import type { Gateway, OpenApi, Route, Service } from '../app.ts'
import type { GatewayContext } from './gateway-context.ts'
import { readPackageFile } from '../file/package-file.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig, ParsedService } from '../schema/schema.ts'

/** Where a typed service publishes what its contract says, unless its config says otherwise. */
const typedPath = '/openapi.json'

/** Where a service publishes its document; undefined where it has none, or none that anybody is to see. */
export function publishedAt(
  kind: Service['kind'],
  { openapi }: ParsedService,
  { gateway }: ParsedConfig,
): string | undefined {
  if (gateway.openapi === false || openapi === false) return undefined
  return openapi ?? (kind === 'typed' ? typedPath : undefined)
}

/** The document of the whole app: where the config asks for it, or a service has one that the gateway leads to. */
export async function resolveOpenApi(
  { root, config, services }: GatewayContext,
  { entry, routes }: Pick<Gateway, 'entry' | 'routes'>,
  problems: Problems,
): Promise<OpenApi | undefined> {
  const { openapi } = config.gateway
  const asked = openapi !== undefined
  const reached = new Set([entry, ...routes.map(({ service }) => service)])
  const isDescribed = services.some((service) => service.openapi !== undefined && reached.has(service.name))
  if (openapi === false || (!asked && !isDescribed)) return undefined
  const said = typeof openapi === 'object' ? openapi : {}
  const { path = '/openapi.json', page = '/docs', title, version } = said
  for (const key of ['path', 'page'] as const) checkFree(key, said[key], routes, problems)
  const file = await readPackageFile(root)
  return {
    path,
    page: page === false ? undefined : page,
    beforeEntry: asked,
    title: title ?? file?.name ?? basename(root),
    version: version ?? file?.version ?? '0.0.0',
  }
}

/** Routes come first, so what lies under one would never be seen. */
function checkFree(key: string, place: string | false | undefined, routes: readonly Route[], problems: Problems): void {
  const taking = routes.find(({ host, prefix }) => host === undefined && prefix !== '' && isBelow(place, prefix))
  if (taking === undefined) return
  problems.add('CONFIG_INVALID', {
    message: `gateway.openapi.${key} is "${String(place)}", which the route "${taking.prefix}" takes`,
    hint: 'Choose another path.',
  })
}

function isBelow(place: string | false | undefined, prefix: string): boolean {
  return place === prefix || (typeof place === 'string' && place.startsWith(`${prefix}/`))
}
