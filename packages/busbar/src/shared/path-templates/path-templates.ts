import { KnownTemplates, readTemplate, type ServiceTemplates } from './known-templates.ts'
import { patternsOf } from './template-pattern.ts'
import { TemplateTree } from './template-tree.ts'

/**
 * Finds the template that the path of a call matches. Takes less than 0.1 µs for a service that has
 * templates (docs/decisions/call/path-templates.md).
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

  /**
   * `url`: the path as the service gets it, with or without a query. HEAD counts by a template of
   * GET if it has none.
   */
  find(method: string, url: string): Template | undefined {
    for (const one of this.#ofMethods)
      if (one.method === method) {
        const found = one.tree.find(url)
        if (found !== undefined) return found
      }
    return method === 'HEAD' ? this.find('GET', url) : this.#ofAny?.find(url)
  }

  /** False for one of a syntax that is not known: its calls are not distinguished. */
  add(text: string, create: (path: string) => Template): boolean {
    const { method, path } = readTemplate(text)!
    const patterns = patternsOf(path)
    if (patterns.length === 0) return false
    const template = create(path)
    const tree = method === undefined ? (this.#ofAny ??= new TemplateTree()) : this.#treeOf(method)
    for (const pattern of patterns) tree.add(pattern, template)
    return true
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
