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

/** Of a service. Further ones are not distinguished. */
export const maxTemplates = 100
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
  readonly #services = new Map<string, Set<string>>()

  get all(): readonly ServiceTemplates[] {
    return [...this.#services].map(([service, templates]) => ({ service, templates: [...templates] }))
  }

  /** Returns those that were not known. */
  add({ service, templates }: ServiceTemplates): readonly string[] {
    const known = this.#services.get(service) ?? new Set()
    this.#services.set(service, known)
    return templates.filter((text) => {
      if (known.size >= maxTemplates || known.has(text) || readTemplate(text) === undefined) return false
      known.add(text)
      return true
    })
  }
}
