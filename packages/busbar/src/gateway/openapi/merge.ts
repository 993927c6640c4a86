import { mapReferences } from '../../contract/openapi/references.ts'
import {
  type Components,
  type OpenApiDocument,
  type Operation,
  type PathItem,
  shortPath,
} from '../../contract/openapi/types.ts'
import { renameComponents } from './components.ts'

/** A service's own document, and where the gateway has it. */
export interface Part {
  readonly service: string
  /** In front of each of its paths; '' for nothing. */
  readonly prefix: string
  /** Of OpenAPI 3.1. */
  readonly document: OpenApiDocument
  /** Whether a request for this path, prefix included, gets to the service by this part's route. */
  readonly isTaken: (path: string) => boolean
}

export interface MergeOptions {
  readonly title: string
  readonly version: string
}

const verbs: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])

/**
 * The documents of several services as one. Two of them may use one name for two components: one is renamed then. They
 * may have one path and verb only where templates of paths overlap: the first has it. Both are told in the notes.
 */
export function mergeDocuments(
  parts: readonly Part[],
  notes: readonly string[],
  options: MergeOptions,
): OpenApiDocument {
  const merging = new Merging(notes, options)
  for (const part of parts) merging.add(part)
  return merging.document()
}

class Merging {
  readonly #options: MergeOptions
  readonly #notes: Set<string>
  readonly #paths: Record<string, PathItem> = {}
  /** Paths by what they match, and whose operation is there. */
  readonly #owners = new Map<string, { readonly path: string; readonly service: string }>()
  readonly #tags = new Map<string, { readonly name: string; readonly description?: string }>()
  readonly #operationIds = new Set<string>()
  #components: Components = {}

  constructor(notes: readonly string[], options: MergeOptions) {
    this.#notes = new Set(notes)
    this.#options = options
  }

  add(part: Part): void {
    const { service } = part
    const { document, renamed } = renameComponents(withOwnPaths(withShortPaths(part)), this.#components, service)
    const { security } = document as { security?: unknown }
    for (const [was, is] of renamed)
      this.#notes.add(`${was} of ${service} is ${is} here: another service has that name too.`)
    for (const note of document['x-busbar-notes'] ?? []) this.#notes.add(note)
    for (const tag of document.tags ?? []) if (!this.#tags.has(tag.name)) this.#tags.set(tag.name, tag)
    this.#components = joined(this.#components, document.components ?? {})
    for (const [path, item] of Object.entries(document.paths))
      if (part.isTaken(path)) this.#addPath(service, path, item, security)
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
    // What operations of one path have in common cannot be told apart any more when two services have some of them.
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

  /** What its document says of all operations is said of each, and no name of one is another's. */
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
 * `/api/catalog/search` instead of `/api/catalog/catalog/search`, where the route has the service's name already: both lead there, and the
 * first is what clients use.
 */
function withShortPaths(part: Part): Part {
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
 * Its paths as they are behind the gateway. A server that is a path says where the service itself has them; one with a
 * host of its own says where somebody else has them, and is nothing to go by.
 */
function withOwnPaths({ prefix, document }: Part): OpenApiDocument {
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
