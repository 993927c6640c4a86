/** What the loaded app means for its gateway. */
import type { App } from '../shared/app/app.ts'

export type * from '../shared/app/app.ts'

/** True if the native entrance has to accept the gateway's connections. */
export function usesEntrance({ gateway }: Pick<App, 'gateway'>): boolean {
  return gateway.entrance === 'native' && gateway.raw !== true
}

/**
 * True if the native entrance accepts the gateway's connections where its binary is there: `auto`
 * chooses it for what it does faster (docs/decisions/expose/entrance.md).
 */
export function prefersEntrance({ accept, gateway }: Pick<App, 'accept' | 'gateway'>): boolean {
  const { entrance, raw, tls, grpc, descriptor } = gateway
  // It refuses certificates of clients that the portable gateway takes (X.509 version 1, P-521).
  const isPossible = raw !== true && accept !== 'reusePort' && descriptor === undefined && tls?.clientCa === undefined
  return entrance === 'auto' && isPossible && (tls !== undefined || grpc !== undefined)
}

/**
 * True if the entry service's own server gets the gateway's connections, with nothing in between
 * but the native entrance.
 */
export function isRawEntry(app: Pick<App, 'gateway' | 'services'>): boolean {
  return app.gateway.raw !== false && needOfGateway(app) === undefined
}

/** Why the gateway has to read the requests of this app. Undefined if it does not. */
export function needOfGateway(app: Pick<App, 'gateway' | 'services'>): string | undefined {
  const { entry, routes, tls, openapi, probes, grpc } = app.gateway
  if (entry === undefined) return 'the app has no entry'
  if (routes.length > 0) return 'the app has routes'
  if (tls !== undefined) return 'gateway.tls is set'
  if (probes === true) return 'gateway.probes is true'
  if (grpc !== undefined) return 'gateway.grpc is set'
  // The document precedes the entry, so the gateway has to parse every request.
  if (openapi?.beforeEntry === true) return 'gateway.openapi is set'
  const service = app.services.find(({ name }) => name === entry)
  if (service?.kind !== 'program') return `${entry} is not a program with a server of its own`
  // Both look at each request.
  if (service.concurrency !== undefined) return `services.${entry}.concurrency is set`
  if (service.sticky !== undefined) return `services.${entry}.sticky is set`
  // The entrance reaches threads only. The gateway forwards to processes.
  if (service.run === 'process' && usesEntrance(app))
    return `${entry} runs as a process, which the entrance does not reach`
  return undefined
}

/**
 * True if the gateway opens a connection for each request, as it does for commands and test
 * doubles.
 */
export function gatewayOpensConnections(app: Pick<App, 'gateway' | 'services'>): boolean {
  return !isRawEntry(app) && app.services.some(({ kind, double }) => kind === 'command' || double === true)
}
