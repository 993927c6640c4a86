import { KnownTemplates, readTemplate, type ServiceTemplates } from './known-templates.ts'
import { TemplateTree } from './template-tree.ts'

/**
 * Finds the template that the path of a call matches. Takes less than 0.1 µs for a service that has
 * templates (docs/decisions/measure/path-templates.md).
 */
export class PathTemplates<Template extends object> {
  readonly #known = new KnownTemplates()
  readonly #services = new Map<string, ServicePaths<Template>>()
  readonly #create: (path: string) => Template

  /** `create`: makes what is found for a template. */
  constructor(create: (path: string) => Template) {
    this.#create = create
  }

  /** Returns those that were not known. One that no path can match stays without effect. */
  add(templates: ServiceTemplates): readonly string[] {
    const added = this.#known.add(templates)
    const paths = this.of(templates.service)
    for (const text of added) paths.add(text, this.#create)
    return added
  }

  /** Always the same for the same service, which may have none yet. */
  of(service: string): ServicePaths<Template> {
    const known = this.#services.get(service)
    if (known !== undefined) return known
    const paths = new ServicePaths<Template>()
    this.#services.set(service, paths)
    return paths
  }
}

/** The templates of one service. */
export class ServicePaths<Template extends object> {
  /** Few, so that comparing their names takes less than a map. */
  readonly #ofMethods: { readonly method: string; readonly tree: TemplateTree<Template> }[] = []
  #ofAny: TemplateTree<Template> | undefined

  /** `url`: the path as the service gets it, with or without a query. */
  find(method: string, url: string): Template | undefined {
    for (const one of this.#ofMethods)
      if (one.method === method) {
        const found = one.tree.find(url)
        if (found !== undefined) return found
      }
    return this.#ofAny?.find(url)
  }

  /** False for one of a syntax that is not known: its calls are not distinguished. */
  add(text: string, create: (path: string) => Template): boolean {
    const { method, path } = readTemplate(text)!
    const patterns = patternsOf(path)
    const template = create(path)
    const tree = method === undefined ? (this.#ofAny ??= new TemplateTree()) : this.#treeOf(method)
    try {
      for (const pattern of patterns) tree.add(pattern, template)
      return patterns.length > 0
    } catch {
      // A parameter has an expression that is none.
      return false
    }
  }

  #treeOf(method: string): TemplateTree<Template> {
    const known = this.#ofMethods.find((one) => one.method === method)
    if (known !== undefined) return known.tree
    const tree = new TemplateTree<Template>()
    this.#ofMethods.push({ method, tree })
    return tree
  }
}

/** True if paths can match it. */
export function isTemplate(text: string): boolean {
  return readTemplate(text) !== undefined && new ServicePaths().add(text, (path) => ({ path }))
}

/** Each doubles the number of patterns. */
const maxOptional = 3

/**
 * As the tree has them: `{id}` of OpenAPI and of contracts is `:id`, `*rest` of Express 5 is `*`,
 * and what may be left out (`{/:id}`, or `/:id?` at the end) makes two patterns.
 */
export function patternsOf(path: string): readonly string[] {
  const written = path.replace(/(\/:\w+(?:\([^)]*\))?)\?$/, '{$1}')
  const optional = written.match(/\{\/[^{}]*\}/g) ?? []
  if (optional.length > maxOptional) return []
  const patterns = withAndWithout(written, optional).map((one) =>
    encoded(one.replace(/\{(\w+)\}/g, ':$1').replace(/\*\w*$/, '*')),
  )
  return patterns.some((one) => unknownSyntax.test(one)) ? [] : patterns
}

function withAndWithout(path: string, optional: readonly string[]): readonly string[] {
  const [first, ...others] = optional
  if (first === undefined) return [path === '' ? '/' : path]
  return [path.replace(first, ''), path.replace(first, first.slice(1, -1))].flatMap((one) =>
    withAndWithout(one, others),
  )
}

/** As clients send it. */
function encoded(pattern: string): string {
  return pattern.replaceAll(/[\u0080-\uffff]+/g, (text) => encodeURIComponent(text.toWellFormed()))
}

/** A colon without a name (a doubled one is text), and `*` within a path. */
const unknownSyntax = /(?<!:):(?![\w:])|\*(?!$)|[^/]\*$/
