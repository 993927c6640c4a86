import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App, OpenApi } from '../../config/app.ts'
import type { OpenApiDocument } from '../../contract/openapi/types.ts'
import type { OwnResponses } from '../problems/own-responses.ts'
import type { RequestContext } from '../request-context.ts'
import type { Routes } from '../routing/routes.ts'
import { clientCertificateOf } from '../tls/client-certificate.ts'
import { allowOrigin } from '../typed/cors.ts'
import { AppDocument, type AppDocumentParts } from './app-document.ts'
import { answerPage, answerScript, scriptName } from './reference-page.ts'

type Resource = 'document' | 'page' | 'page with a slash' | 'script'

/**
 * The resources that the gateway itself serves: the app's OpenAPI document and the page that shows
 * it. The app's services come first at these paths: a route, a method of a typed entry, and
 * anything of a program that is the entry, unless the config gives the document priority.
 */
export class OpenApiPages {
  readonly #resources: ReadonlyMap<string, Resource>
  readonly #openapi: OpenApi
  readonly #cors: readonly string[]
  readonly #routes: Routes
  readonly #document: AppDocument
  readonly #typed: ReadonlySet<string>
  readonly #needsClientCertificate: boolean
  readonly #log: AppDocumentParts['log']
  readonly #responses: OwnResponses

  constructor(
    openapi: OpenApi,
    { services, gateway: { cors = [], tls } }: Pick<App, 'services' | 'gateway'>,
    parts: Pick<AppDocumentParts, 'routes' | 'mesh' | 'log'>,
    responses: OwnResponses,
  ) {
    const { path, page } = openapi
    this.#resources = new Map<string, Resource>([[path, 'document'], ...(page === undefined ? [] : resourcesOf(page))])
    this.#openapi = openapi
    this.#cors = cors
    this.#routes = parts.routes
    this.#log = parts.log
    this.#responses = responses
    this.#needsClientCertificate = tls?.clientCertificate === 'required'
    this.#document = new AppDocument({ openapi, services, ...parts })
    this.#typed = new Set(services.filter(({ kind }) => kind === 'typed').map(({ name }) => name))
  }

  /** False if {@link matches} is, by the method and the path alone. */
  knows({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
    return (method === 'GET' || method === 'HEAD') && this.#resources.has(pathOf(url!))
  }

  /** True if the request may be for one of these resources, by its method and path. */
  matches({ method, url, headers, socket }: IncomingMessage): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    const path = pathOf(url!)
    if (!this.#resources.has(path)) return false
    if (this.#needsClientCertificate && clientCertificateOf(socket) === undefined) return false
    const route = this.#routes.find(headers.host, path)
    if (route === undefined) return true
    const isEntry = route.prefix === '' && route.host === undefined
    return isEntry && (this.#openapi.beforeEntry || this.#typed.has(route.service))
  }

  /** Calls `pass` if the request is for a service after all. */
  async answer(context: RequestContext, pass: () => void): Promise<void> {
    const { req, res, path } = context
    try {
      await this.#answer(context, pass)
    } catch (error) {
      this.#log('warn', `OpenAPI: ${String(error)}`)
      if (res.headersSent) res.destroy()
      else this.#responses.send(req, res, failed, path)
    }
  }

  async #answer({ req, res }: RequestContext, pass: () => void): Promise<void> {
    const { host } = req.headers
    const path = pathOf(req.url!)
    if (this.#mayBeOwn(host, path) && hasOwn((await this.#document.for(host)).document, path)) return pass()
    switch (this.#resources.get(path)!) {
      case 'document':
        return this.#answerDocument(req, res, (await this.#document.for(host)).body)
      case 'page':
        return answerPage(res, this.#openapi as OpenApi & { page: string })
      case 'page with a slash':
        return void res
          .writeHead(308, { location: `..${path.slice(path.lastIndexOf('/', path.length - 2), -1)}` })
          .end()
      case 'script':
        if (!(await answerScript(req, res))) this.#responses.send(req, res, notBuilt, path)
    }
  }

  /** True if a typed entry may have a method at the path, which only its document tells. */
  #mayBeOwn(host: string | undefined, path: string): boolean {
    return !this.#openapi.beforeEntry && this.#routes.find(host, path) !== undefined
  }

  #answerDocument(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    if (res.destroyed) return
    if (req.headers.origin !== undefined) allowOrigin(this.#cors, req, res)
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
    res.writeHead(200, { ...headers, 'content-length': body.length }).end(body)
  }
}

const failed = { code: 'INTERNAL', detail: 'The document could not be created; the log has the reason' } as const

const notBuilt = {
  code: 'ROUTE_NOT_FOUND',
  detail: 'The reference page exists only in the built package. To use it from the sources, run `npm run build`',
} as const

function resourcesOf(page: string): [string, Resource][] {
  return [
    [page, 'page'],
    [`${page}/`, 'page with a slash'],
    [`${page}/${scriptName}`, 'script'],
  ]
}

/** True if a typed entry has a method at exactly this path. */
function hasOwn({ paths }: OpenApiDocument, path: string): boolean {
  const asked = path.split('/')
  return Object.entries(paths).some(([template, item]) => {
    const parts = template.split('/')
    return (
      Object.hasOwn(item, 'get') &&
      parts.length === asked.length &&
      parts.every((part, at) => part === asked[at] || part.startsWith('{'))
    )
  })
}

function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? url : url.slice(0, mark)
}
