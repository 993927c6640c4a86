import { KnownTemplates, type ReadTemplate, readTemplate, type ServiceTemplates } from './known-templates.ts'
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

  /** Returns those that were not known. */
  add(templates: ServiceTemplates): readonly string[] {
    const added = this.#known.add(templates)
    const paths = this.of(templates.service)
    for (const text of added) paths.add(readTemplate(text)!, this.#create)
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
  /** Undefined while there are none. */
  #tree: TemplateTree<Template> | undefined

  /** `url`: the path as the service gets it, with or without a query. */
  find(method: string, url: string): Template | undefined {
    return this.#tree?.find(method, url)
  }

  add({ method, path, patterns }: ReadTemplate, create: (path: string) => Template): void {
    const template = create(path)
    this.#tree ??= new TemplateTree()
    for (const pattern of patterns) this.#tree.add(method, pattern, template)
  }
}
