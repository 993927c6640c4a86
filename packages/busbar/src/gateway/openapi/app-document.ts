import type { OpenApi, Service } from '../../config/app.ts'
import type { OpenApiDocument } from '../../contract/openapi/types.ts'
import type { MeshContext } from '../../mesh/mesh-context.ts'
import type { Routes } from '../routing/routes.ts'
import { fetchDocument } from './fetch-document.ts'
import { mergeDocuments, type ServiceDocument } from './merge-documents.ts'
import { toOpenApi31 } from './to-openapi31.ts'

export interface AppDocumentParts {
  readonly openapi: OpenApi
  readonly services: readonly Service[]
  readonly routes: Routes
  readonly mesh: MeshContext
  readonly log: (level: 'warn', line: string) => void
}

export interface MergedDocument {
  readonly document: OpenApiDocument
  /** The document as JSON. */
  readonly body: Buffer
}

/**
 * Milliseconds that a merged document is cached. Services may be replaced, so it is not kept
 * forever.
 */
const cacheTime = 5000

/**
 * Merges the documents of all services that have one and a route. Each is fetched over the mesh,
 * wherever the service runs.
 */
export class AppDocument {
  readonly #parts: AppDocumentParts
  /** By host if it has routes of its own, else by ''. */
  readonly #cache = new Map<string, { readonly at: number; readonly merged: Promise<MergedDocument> }>()
  readonly #logged = new Set<string>()

  constructor(parts: AppDocumentParts) {
    this.#parts = parts
  }

  /** The document with the paths that requests for `host` can reach. */
  for(host: string | undefined): Promise<MergedDocument> {
    const key = this.#parts.routes.knowsHost(host) ? host! : ''
    const cached = this.#cache.get(key)
    if (cached !== undefined && performance.now() - cached.at < cacheTime) return cached.merged
    const merged = this.#merge(host).then((document) => ({
      document,
      body: Buffer.from(JSON.stringify(document)),
    }))
    this.#cache.set(key, { at: performance.now(), merged })
    return merged
  }

  async #merge(host: string | undefined): Promise<OpenApiDocument> {
    const { openapi, routes, services } = this.#parts
    const notes: string[] = []
    const described = services.filter((service) => service.openapi !== undefined)
    const documents = new Map(
      await Promise.all(described.map(async (service) => [service.name, await this.#fetch(service, notes)] as const)),
    )
    const parts = routes.all(host).flatMap((route): ServiceDocument[] => {
      const { service, strippedPrefix: prefix } = route
      const document = documents.get(service)
      const isReachable = (path: string): boolean => routes.find(host, path) === route
      return document === undefined ? [] : [{ service, prefix, document, isReachable }]
    })
    return mergeDocuments(parts, notes, { title: openapi.title, version: openapi.version })
  }

  /** If the service's document cannot be fetched, adds a note and returns undefined. */
  async #fetch({ name, openapi }: Service, notes: string[]): Promise<OpenApiDocument | undefined> {
    try {
      const document = toOpenApi31(await fetchDocument(this.#parts.mesh, name, openapi!))
      if (document !== undefined) return document
      throw new Error(`${openapi} is not an OpenAPI 3.0 or 3.1 document`)
    } catch (error) {
      const note = `Service '${name}' is left out: ${(error as Error).message}`
      notes.push(note)
      if (!this.#logged.has(note)) this.#parts.log('warn', `OpenAPI: ${note}`)
      this.#logged.add(note)
      return undefined
    }
  }
}
