import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../config/app.ts'
import { corsHeaders } from '../../contract/http/cors.ts'
import { addField } from '../response-fields.ts'
import type { Target } from '../request-context.ts'
import type { GatewayRoute } from '../routing/routes.ts'
import { handleCors } from './cors.ts'

/** CORS at the routes of typed services, where the service itself does not answer. */
export class RouteCors {
  readonly #origins: readonly string[]
  readonly #typed: ReadonlySet<string>

  constructor({ gateway, services }: Pick<App, 'gateway' | 'services'>) {
    this.#origins = gateway.cors ?? []
    this.#typed = new Set(services.filter(({ kind }) => kind === 'typed').map(({ name }) => name))
  }

  /**
   * Answers a preflight for a service that does not serve. With an error, a browser would not make
   * the request, and so its page could not learn why there is no response.
   */
  answersPreflight(req: IncomingMessage, res: ServerResponse, unserved: GatewayRoute | undefined): boolean {
    if (this.#origins.length === 0 || unserved === undefined || !this.#typed.has(unserved.service)) return false
    return handleCors(this.#origins, req, res)
  }

  /** The mesh may answer in place of a service elsewhere that has no room for the call. */
  addTo(req: IncomingMessage, res: ServerResponse, { route, endpoint }: Target): void {
    const { origin } = req.headers
    if (origin === undefined || this.#origins.length === 0) return
    if (endpoint.at === 'here' || !this.#typed.has(route.service)) return
    for (const [name, value] of Object.entries(corsHeaders(this.#origins, origin)))
      addField(res, name, value, 'unless-set')
  }
}
