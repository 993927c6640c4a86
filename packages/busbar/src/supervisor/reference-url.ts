import type { RunningApp } from './running-app.ts'

/** The URL of the API reference page; undefined without one, or if a program serves that path. */
export function referenceUrl({
  app: { gateway, services },
  addresses: [gatewayAddress],
}: Pick<RunningApp, 'app' | 'addresses'>): string | undefined {
  const { openapi, entry, routes } = gateway
  if (openapi?.page === undefined || gatewayAddress?.serves.kind !== 'gateway') return undefined
  const takers = routes.filter(({ host, prefix }) => host === undefined && `${openapi.page}/`.startsWith(`${prefix}/`))
  const names = new Set([entry, ...takers.filter(({ prefix }) => prefix === '').map(({ service }) => service)])
  const isProgram = services.some(({ name, kind }) => kind !== 'typed' && names.has(name))
  if (takers.some(({ prefix }) => prefix !== '') || (isProgram && !openapi.beforeEntry)) return undefined
  return gatewayAddress.url.replace(/\/$/, '') + openapi.page
}
