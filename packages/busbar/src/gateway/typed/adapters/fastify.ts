import { LazyHost } from '../../../contract/host/lazy-host.ts'
import { corsHeaders, preflightHeaders } from '../../../contract/http/cors.ts'
import { encodingFault, readContent } from '../../../contract/http/request-content.ts'
import { defaultMaxInputSize, HttpHandler } from '../../../contract/http/http-handler.ts'
import type { Implementation } from '../../../contract/implementation.ts'
import { documentPath, selfDescriber } from '../self-description.ts'
import { textOf } from '../parsed-body.ts'
import { answerCall } from './fastify-answer.ts'
import { FailedCalls } from './fastify-failures.ts'
import { routesOf, type ServiceRoute } from './fastify-routes.ts'
import type { FastifyLike, FastifyReply, FastifyRequest } from './fastify-types.ts'
import type { AdapterOptions } from './node.ts'

/**
 * Serves a typed service in a Fastify app: `app.register(fastifyPlugin(catalog), { prefix: '/api'
 * })`.
 *
 * Each method gets a route, in a context of its own, so that the app's hooks run as for any other
 * route. Only JSON is parsed, as typed services parse it. Failures of calls are sent as problem
 * details; what hooks throw goes to the app's error handler.
 */
export function fastifyPlugin(
  implementation: Implementation,
  options: AdapterOptions = {},
): (app: FastifyLike) => Promise<void> {
  return async (app) => new Mount(app, implementation, options).add()
}

class Mount {
  readonly #app: FastifyLike
  readonly #implementation: Implementation
  readonly #options: AdapterOptions & { readonly maxInputSize: number }
  readonly #service: LazyHost
  readonly #failed = new FailedCalls()
  #handler: HttpHandler | undefined
  #describe: (() => Promise<string>) | undefined

  constructor(app: FastifyLike, implementation: Implementation, options: AdapterOptions) {
    const { maxInputSize = defaultMaxInputSize, calls = [], log = console } = options
    this.#app = app
    this.#implementation = implementation
    this.#options = { ...options, maxInputSize }
    this.#service = new LazyHost(implementation, { log, calls })
  }

  add(): void {
    const app = this.#app
    const { cors = [], openapi = true } = this.#options
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(jsonType, { parseAs: 'buffer' }, (request, bytes, done) => {
      try {
        done(null, this.#parse(request, bytes))
      } catch (thrown) {
        done(this.#failed.of(thrown))
      }
    })
    app.setErrorHandler(this.#failed.answer)
    const routes = routesOf(this.#implementation.contract).filter((route) => this.#isFree(route))
    for (const route of routes) this.#addRoute(route)
    if (openapi) this.#addDocument()
    if (cors.length > 0) this.#addCors(cors, new Set(routes.map(({ url }) => url)))
    app.addHook('onClose', async () => await this.#service.stop())
  }

  /** The app may have a route of its own at a short path. */
  #isFree({ verb, url, isShort }: ServiceRoute): boolean {
    return !isShort || !this.#app.hasRoute({ method: verb, url: this.#app.prefix + url })
  }

  #addRoute(route: ServiceRoute): void {
    this.#app.route({
      method: route.verb,
      url: route.url,
      bodyLimit: this.#options.maxInputSize,
      // A stream has no response without its body, so it has no HEAD.
      exposeHeadRoute: route.kind === 'fn',
      config: { busbar: route.name },
      handler: async (request, reply) => {
        try {
          return await answerCall(await this.#started(), route, request, reply, this.#failed)
        } catch (thrown) {
          throw this.#failed.of(thrown)
        }
      },
    })
  }

  #addDocument(): void {
    const url = documentPath
    if (this.#app.hasRoute({ method: 'GET', url: this.#app.prefix + url })) return
    const handler = async (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      await this.#started()
      const document = await this.#describe!()
      return reply.headers({ 'content-type': 'application/json', 'cache-control': 'no-cache' }).send(document)
    }
    this.#app.route({ method: 'GET', url, handler })
  }

  /**
   * Preflights are answered before later hooks, which may check credentials: browsers send none
   * with a preflight.
   */
  #addCors(cors: readonly string[], urls: ReadonlySet<string>): void {
    this.#app.addHook('onRequest', async ({ method, headers }, reply) => {
      if (headers.origin === undefined) return undefined
      const allowed = corsHeaders(cors, headers.origin)
      reply.headers(allowed)
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return undefined
      const asked = headers['access-control-request-headers']
      const answer = preflightHeaders('access-control-allow-origin' in allowed, asked)
      return reply.code(204).headers(answer).send()
    })
    const handler = async (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> => reply.code(204).send()
    for (const url of urls) this.#app.route({ method: 'OPTIONS', url, handler })
  }

  /** Parses the input as the service will get it. Hooks see it as the body, and may change it. */
  #parse(request: FastifyRequest, bytes: Buffer): unknown {
    const { name: service } = this.#implementation.contract
    const { busbar: method = '' } = (request.routeOptions.config ?? {}) as { busbar?: string }
    if (bytes.length === 0) return undefined
    try {
      return readContent(textOf(bytes), { service, method })
    } catch (thrown) {
      // A hook may have decoded the body and kept the header.
      throw encodingFault(request.headers, service) ?? thrown
    }
  }

  async #started(): Promise<HttpHandler> {
    if (this.#handler !== undefined) return this.#handler
    const host = await this.#service.get()
    this.#describe ??= selfDescriber(host, { path: documentPath, folder: process.cwd() })
    return (this.#handler ??= new HttpHandler(host, { maxInputSize: this.#options.maxInputSize }))
  }
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json/i
