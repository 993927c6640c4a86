import type { OpenApi, Service } from '../../config/app.ts'
import type { OpenApiDocument } from '../../contract/openapi/types.ts'
import type { HttpMesh } from '../../mesh/mesh.ts'
import type { Routes } from '../routes.ts'
import { fetchDocument } from './fetch-document.ts'
import { mergeDocuments, type Part } from './merge.ts'
import { toOpenApi31 } from './upgrade.ts'

export interface AppDocumentParts {
  readonly openapi: OpenApi
  readonly services: readonly Service[]
  readonly routes: Routes
  readonly mesh: HttpMesh
  readonly log: (level: 'warn', line: string) => void
}

export interface Collected {
  readonly document: OpenApiDocument
  /** The same as JSON. */
  readonly body: Buffer
}

/** Milliseconds that a document is kept: services may be replaced, and whoever asks often must not make work each time. */
const keptFor = 5000

/** The documents of all services that have one and a route, as one. Each is asked for over the mesh, wherever it runs. */
export class AppDocument {
  readonly #parts: AppDocumentParts
  /** By host, where it has routes of its own. */
  readonly #kept = new Map<string, { readonly at: number; readonly collected: Promise<Collected> }>()
  readonly #told = new Set<string>()

  constructor(parts: AppDocumentParts) {
    this.#parts = parts
  }

  /** As a request for `host` finds it. */
  for(host: string | undefined): Promise<Collected> {
    const key = this.#parts.routes.knowsHost(host) ? host! : ''
    const kept = this.#kept.get(key)
    if (kept !== undefined && performance.now() - kept.at < keptFor) return kept.collected
    const collected = this.#collect(host).then((document) => ({
      document,
      body: Buffer.from(JSON.stringify(document)),
    }))
    this.#kept.set(key, { at: performance.now(), collected })
    return collected
  }

  async #collect(host: string | undefined): Promise<OpenApiDocument> {
    const { openapi, routes, services } = this.#parts
    const notes: string[] = []
    const described = services.filter((service) => service.openapi !== undefined)
    const documents = new Map(
      await Promise.all(described.map(async (service) => [service.name, await this.#ask(service, notes)] as const)),
    )
    const parts = routes.ways(host).flatMap((way): Part[] => {
      const document = documents.get(way.service)
      const isTaken = (path: string): boolean => routes.find(host, path) === way
      return document === undefined ? [] : [{ service: way.service, prefix: way.cut, document, isTaken }]
    })
    return mergeDocuments(parts, notes, { title: openapi.title, version: openapi.version })
  }

  /** A service that has none just now is no reason not to show the others. */
  async #ask({ name, openapi }: Service, notes: string[]): Promise<OpenApiDocument | undefined> {
    try {
      const document = toOpenApi31(await fetchDocument(this.#parts.mesh, name, openapi!))
      if (document !== undefined) return document
      throw new Error(`${openapi} is no document of OpenAPI 3.0 or 3.1`)
    } catch (error) {
      const note = `Service ${name} is left out: ${(error as Error).message}`
      notes.push(note)
      if (!this.#told.has(note)) this.#parts.log('warn', `OpenAPI: ${note}`)
      this.#told.add(note)
      return undefined
    }
  }
}
