/**
 * Path templates, such as `/items/:id` or `GET /items/:id`: by them, calls over HTTP to a service
 * are counted. A program has any number of paths, and few templates.
 */
import { patternsOf, type Segment } from './template-pattern.ts'

/** Templates of one service, without a method for all methods. */
export interface ServiceTemplates {
  readonly service: string
  readonly templates: readonly string[]
}

/** What was found of one service. */
export interface FoundTemplates extends ServiceTemplates {
  /** Found before, and no templates of the service after all. */
  readonly withdrawn: readonly string[]
}

/** Of a service. Further ones are not distinguished. */
export const maxTemplates = 100
/** Of a service: the oldest ones are forgotten. */
export const maxWithdrawn = 300
/** Characters of one, with its method. */
export const maxTemplateLength = 90
/** Characters of a route: a template after the prefix of the gateway. */
export const maxRouteLength = 140

/** Without control characters, which a terminal would follow. */
const form = /^(?:(?<method>[A-Z]+) )?(?<path>\/[^\s\p{C}]*)$/u

export interface ReadTemplate {
  /** Undefined: all. */
  readonly method: string | undefined
  /** As it is written. */
  readonly path: string
  /** One at least. */
  readonly patterns: readonly (readonly Segment[])[]
}

/** Undefined for a text that is too long, or has another syntax. */
export function readTemplate(text: string): ReadTemplate | undefined {
  const { method, path } = form.exec(text)?.groups ?? {}
  if (path === undefined || text.length > maxTemplateLength) return undefined
  const patterns = patternsOf(path)
  return patterns.length === 0 ? undefined : { method, path, patterns }
}

/** Those that the config gives. */
export function configuredTemplates(
  services: readonly { readonly name: string; readonly pathTemplates?: readonly string[] | undefined }[],
): readonly ServiceTemplates[] {
  return services.flatMap(({ name, pathTemplates }) =>
    pathTemplates === undefined ? [] : [{ service: name, templates: pathTemplates }],
  )
}

/** The templates of all services, as far as they are known. */
export class KnownTemplates {
  readonly #services = new Map<string, KnownOfService>()

  get all(): readonly FoundTemplates[] {
    return [...this.#services].map(([service, { found, withdrawn }]) => {
      return { service, templates: [...found], withdrawn: [...withdrawn] }
    })
  }

  /** Returns those that are new. Nothing withdraws them, also if it was done before. */
  configure({ service, templates }: ServiceTemplates): readonly string[] {
    const of = this.#of(service)
    return templates.filter((text) => {
      const wasFound = of.found.delete(text)
      of.withdrawn.delete(text)
      if (!isNew(of, text)) return false
      of.configured.add(text)
      return !wasFound
    })
  }

  /** Returns what has changed. Undefined: nothing. */
  add({ service, templates, withdrawn }: FoundTemplates): FoundTemplates | undefined {
    const of = this.#of(service)
    const removed = withdrawn.filter((text) => withdraw(of, text))
    const added = templates.filter((text) => isNew(of, text) && of.found.add(text))
    return added.length + removed.length === 0 ? undefined : { service, templates: added, withdrawn: removed }
  }

  has(service: string, text: string): boolean {
    const { configured, found } = this.#of(service)
    return configured.has(text) || found.has(text)
  }

  #of(service: string): KnownOfService {
    const known = this.#services.get(service)
    if (known !== undefined) return known
    const of = { configured: new Set<string>(), found: new Set<string>(), withdrawn: new Set<string>() }
    this.#services.set(service, of)
    return of
  }
}

interface KnownOfService {
  readonly configured: Set<string>
  readonly found: Set<string>
  /** A worker that does not know better may find one again: it stays withdrawn. */
  readonly withdrawn: Set<string>
}

function isNew({ configured, found, withdrawn }: KnownOfService, text: string): boolean {
  // First what takes less: a route without a place asks with each request.
  if (configured.has(text) || found.has(text) || withdrawn.has(text)) return false
  return configured.size + found.size < maxTemplates && readTemplate(text) !== undefined
}

/** False if it stays, or was before. */
function withdraw({ configured, found, withdrawn }: KnownOfService, text: string): boolean {
  if (configured.has(text) || withdrawn.has(text) || readTemplate(text) === undefined) return false
  const [oldest] = withdrawn
  if (withdrawn.size === maxWithdrawn) withdrawn.delete(oldest!)
  withdrawn.add(text)
  found.delete(text)
  return true
}
