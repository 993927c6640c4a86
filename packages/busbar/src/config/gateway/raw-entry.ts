import type { App } from '../app.ts'

/** True when the one service answers everything itself: then its server gets the connections with nothing in between. */
export function isRawEntry(app: Pick<App, 'gateway' | 'services'>): boolean {
  const { entry, routes, tls, openapi } = app.gateway
  if (entry === undefined || routes.length > 0 || tls !== undefined) return false
  // The document comes before the entry, so somebody has to look at each request.
  if (openapi?.beforeEntry === true) return false
  // A typed service has no server of its own that would have limits of its own, and no connection goes to a command.
  const service = app.services.find(({ name }) => name === entry)
  // A limit counts requests, which nobody sees in a connection that is handed on.
  return service?.kind === 'program' && service.concurrency === undefined
}
