import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App, OpenApi } from '../../config/app.ts'
import type { OpenApiDocument } from '../../contract/openapi/types.ts'
import { answerProblem } from '../answer.ts'
import type { RequestContext } from '../request-context.ts'
import type { Routes } from '../routes.ts'
import { allowOrigin } from '../typed/cors.ts'
import { AppDocument, type AppDocumentParts } from './app-document.ts'
import { answerPage, answerScript, scriptName } from './page.ts'

type Place = 'document' | 'page' | 'page with a slash' | 'script'

/**
 * What the gateway itself answers: the app's document and the page that shows it. Whatever the app's own services have
 * at these paths comes first: a route, a method of a typed entry, and anything of a program that is the entry, unless
 * the config asks for the document.
 */
export class OpenApiPages {
  readonly #places: ReadonlyMap<string, Place>
  readonly #openapi: OpenApi
  readonly #cors: readonly string[]
  readonly #routes: Routes
  readonly #document: AppDocument
  readonly #typed: ReadonlySet<string>
  readonly #log: AppDocumentParts['log']

  constructor(
    openapi: OpenApi,
    { services, gateway: { cors = [] } }: Pick<App, 'services' | 'gateway'>,
    parts: Pick<AppDocumentParts, 'routes' | 'mesh' | 'log'>,
  ) {
    const { path, page } = openapi
    this.#places = new Map<string, Place>([[path, 'document'], ...(page === undefined ? [] : placesOf(page))])
    this.#openapi = openapi
    this.#cors = cors
    this.#routes = parts.routes
    this.#log = parts.log
    this.#document = new AppDocument({ openapi, services, ...parts })
    this.#typed = new Set(services.filter(({ kind }) => kind === 'typed').map(({ name }) => name))
  }

  /** Whether the request may be for one of these, by its path alone. */
  takes({ method, url, headers }: IncomingMessage): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    const path = pathOf(url!)
    if (!this.#places.has(path)) return false
    const way = this.#routes.find(headers.host, path)
    if (way === undefined) return true
    const isEntry = way.prefix === '' && way.host === undefined
    return isEntry && (this.#openapi.beforeEntry || this.#typed.has(way.service))
  }

  /** `pass`: it is for a service after all. */
  async answer(context: RequestContext, pass: () => void): Promise<void> {
    const { req, res, path } = context
    try {
      await this.#answer(context, pass)
    } catch (error) {
      this.#log('warn', `OpenAPI: ${String(error)}`)
      if (res.headersSent) res.destroy()
      else answerProblem(req, res, failed, path)
    }
  }

  async #answer({ req, res }: RequestContext, pass: () => void): Promise<void> {
    const { host } = req.headers
    const path = pathOf(req.url!)
    if (this.#mayBeOwn(host, path) && hasOwn((await this.#document.for(host)).document, path)) return pass()
    switch (this.#places.get(path)!) {
      case 'document':
        return this.#answerDocument(req, res, (await this.#document.for(host)).body)
      case 'page':
        return answerPage(res, this.#openapi as OpenApi & { page: string })
      case 'page with a slash':
        return void res
          .writeHead(308, { location: `..${path.slice(path.lastIndexOf('/', path.length - 2), -1)}` })
          .end()
      case 'script':
        if (!(await answerScript(req, res))) answerProblem(req, res, notBuilt, path)
    }
  }

  /** A typed entry may have a method there, which only its document tells. */
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

const failed = { code: 'INTERNAL', detail: 'The document could not be put together; the log says why' } as const

const notBuilt = {
  code: 'ROUTE_NOT_FOUND',
  detail:
    'The page of the reference is part of the built package: run `npm run build` where Busbar runs from its sources',
} as const

function placesOf(page: string): [string, Place][] {
  return [
    [page, 'page'],
    [`${page}/`, 'page with a slash'],
    [`${page}/${scriptName}`, 'script'],
  ]
}

/** A method of a typed entry at this very path. */
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
