import { mapReferences } from '../../contract/openapi/references.ts'
import {
  type Components,
  type OpenApiDocument,
  type Operation,
  type PathItem,
  shortPath,
} from '../../contract/openapi/types.ts'
import { renameComponents } from './rename-components.ts'

/** A service's own document, and the route that leads to the service. */
export interface ServiceDocument {
  readonly service: string
  /** Added in front of each path; '' for nothing. */
  readonly prefix: string
  /** OpenAPI 3.1. */
  readonly document: OpenApiDocument
  /** True if a request for this path, prefix included, reaches the service by this route. */
  readonly isReachable: (path: string) => boolean
}

export interface MergeOptions {
  readonly title: string
  readonly version: string
}

const verbs: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])

/**
 * Merges the documents of several services. If two use the same name for different components, one
 * is renamed. If path templates overlap, the first service keeps the path. Notes report both.
 */
export function mergeDocuments(
  parts: readonly ServiceDocument[],
  notes: readonly string[],
  options: MergeOptions,
): OpenApiDocument {
  const merge = new DocumentMerge(notes, options)
  for (const part of parts) merge.add(part)
  return merge.document()
}

class DocumentMerge {
  readonly #options: MergeOptions
  readonly #notes: Set<string>
  readonly #paths: Record<string, PathItem> = {}
  /** Path templates without parameter names, with the path and service that has them. */
  readonly #owners = new Map<string, { readonly path: string; readonly service: string }>()
  readonly #tags = new Map<string, { readonly name: string; readonly description?: string }>()
  readonly #operationIds = new Set<string>()
  #components: Components = {}

  constructor(notes: readonly string[], options: MergeOptions) {
    this.#notes = new Set(notes)
    this.#options = options
  }

  add(part: ServiceDocument): void {
    const { service } = part
    const { document, renamed } = renameComponents(withGatewayPaths(withShortPaths(part)), this.#components, service)
    const { security } = document as { security?: unknown }
    for (const [was, is] of renamed)
      this.#notes.add(`${was} of ${service} is ${is} here: another service has that name too.`)
    for (const note of document['x-busbar-notes'] ?? []) this.#notes.add(note)
    for (const tag of document.tags ?? []) if (!this.#tags.has(tag.name)) this.#tags.set(tag.name, tag)
    this.#components = joined(this.#components, document.components ?? {})
    for (const [path, item] of Object.entries(document.paths))
      if (part.isReachable(path)) this.#addPath(service, path, item, security)
  }

  document(): OpenApiDocument {
    const { title, version } = this.#options
    return {
      openapi: '3.1.1',
      info: { title, version },
      servers: [{ url: '/' }],
      tags: [...this.#tags.values()],
      paths: this.#paths,
      components: this.#components,
      ...(this.#notes.size > 0 && { 'x-busbar-notes': [...this.#notes] }),
    }
  }

  #addPath(service: string, path: string, item: PathItem, security: unknown): void {
    const shape = path.replaceAll(/\{[^}]*\}/g, '{}')
    const owner = this.#owners.get(shape)
    // The fields that all operations of a path share could not be separated if two services had it.
    if (owner !== undefined && owner.service !== service) {
      this.#notes.add(`${path} of ${service} is left out: ${owner.service} has ${owner.path} already.`)
      return
    }
    this.#owners.set(shape, { path, service })
    const { servers: _, ...rest } = item
    const entries = Object.entries(rest).map(([key, value]) => [
      key,
      verbs.has(key) ? this.#operation(service, value as object, security) : value,
    ])
    this.#paths[path] = { ...this.#paths[path], ...(Object.fromEntries(entries) as PathItem) }
  }

  /** Copies the document's security to the operation, and makes its operation id unique. */
  #operation(service: string, operation: object, security: unknown): object {
    const {
      servers: _,
      [shortPath]: __,
      operationId,
      ...rest
    } = operation as Partial<Operation> & { servers?: unknown }
    const id = operationId === undefined ? undefined : this.#freeId(operationId, service)
    return { ...(security !== undefined && { security }), ...rest, ...(id !== undefined && { operationId: id }) }
  }

  #freeId(id: string, service: string): string {
    const candidates = [id, `${service}.${id}`]
    for (let at = 2; candidates.every((one) => this.#operationIds.has(one)); at++)
      candidates.push(`${service}.${id}-${at}`)
    const free = candidates.find((one) => !this.#operationIds.has(one))!
    this.#operationIds.add(free)
    return free
  }
}

/**
 * If the route ends with the service's name, `/api/catalog/search` replaces
 * `/api/catalog/catalog/search`. Both paths work, and clients use the first.
 */
function withShortPaths(part: ServiceDocument): ServiceDocument {
  const { prefix, service, document } = part
  if (!prefix.endsWith(`/${service}`)) return part
  const items = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([key, value]) => ({ path, key, value, short: (value as Partial<Operation>)[shortPath] })),
  )
  const taken = new Set(items.filter(({ short }) => short === undefined).map(({ path, key }) => `${key} ${path}`))
  const paths: Record<string, PathItem> = {}
  for (const { path, key, value, short = path } of items) {
    const where = taken.has(`${key} ${short}`) ? path : short
    paths[where] = { ...paths[where], [key]: value }
  }
  return { ...part, document: { ...document, paths } }
}

/**
 * Paths as the gateway serves them. A server URL that is a path is where the service itself has
 * them. A server URL with a host is ignored: it refers to another deployment.
 */
function withGatewayPaths({ prefix, document }: ServiceDocument): OpenApiDocument {
  const [server] = document.servers ?? []
  const base = typeof server?.url === 'string' && server.url.startsWith('/') ? server.url.replace(/\/+$/, '') : ''
  const start = prefix + base
  if (start === '') return document
  const paths = Object.entries(document.paths).map(([path, item]) => [start + path, item] as const)
  const pointer = `#/paths/${start.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const moved = { ...document, paths: Object.fromEntries(paths) }
  return mapReferences(moved, (reference) =>
    reference.startsWith('#/paths/') ? pointer + reference.slice('#/paths/'.length) : reference,
  )
}

function joined(one: Components, other: Components): Components {
  const kinds = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...kinds].map((kind) => [kind, { ...one[kind], ...other[kind] }]))
}
