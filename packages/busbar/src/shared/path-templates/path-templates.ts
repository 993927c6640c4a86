import { type FoundTemplates, KnownTemplates, readTemplate, type ServiceTemplates } from './known-templates.ts'
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

  /** Those of the config. */
  configure(templates: ServiceTemplates): void {
    const { service } = templates
    this.of(service).change({ service, templates: this.#known.configure(templates), withdrawn: [] }, this.#create)
  }

  /** Returns what has changed. Undefined: nothing. */
  add(found: FoundTemplates): FoundTemplates | undefined {
    const change = this.#known.add(found)
    if (change !== undefined) this.of(found.service).change(change, this.#create)
    return change
  }

  has(service: string, text: string): boolean {
    return this.#known.has(service, text)
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
  readonly #templates = new Map<string, Template>()
  /** Undefined while there are none. */
  #tree: TemplateTree<Template> | undefined

  /** `url`: the path as the service gets it, with or without a query. */
  find(method: string, url: string): Template | undefined {
    return this.#tree?.find(method, url)
  }

  change({ templates, withdrawn }: FoundTemplates, create: (path: string) => Template): void {
    for (const text of withdrawn) this.#templates.delete(text)
    if (withdrawn.length > 0) this.#tree = undefined
    const given = withdrawn.length > 0 ? [...this.#templates.keys(), ...templates] : templates
    for (const text of given) {
      const { method, path, patterns } = readTemplate(text)!
      const template = this.#templates.get(text) ?? create(path)
      this.#templates.set(text, template)
      this.#tree ??= new TemplateTree()
      for (const pattern of patterns) this.#tree.add(method, pattern, template)
    }
  }
}
