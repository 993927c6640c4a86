import { type FoundTemplates, KnownTemplates } from '../../shared/path-templates/known-templates.ts'
import type { Order } from '../../shared/control-messages.ts'

/** The path templates that workers have found, which every worker needs to count its calls. */
export class TemplateRegistry {
  readonly #known = new KnownTemplates()

  /** Returns the order for all workers. Undefined if nothing is new. */
  report({ service, templates, withdrawn }: FoundTemplates): Order | undefined {
    const change = this.#known.add({ service, templates, withdrawn })
    return change && { type: 'pathTemplates', ...change }
  }

  get all(): readonly FoundTemplates[] {
    return this.#known.all
  }

  /** For a worker that starts. */
  get orders(): readonly Order[] {
    return this.all.map((one) => ({ type: 'pathTemplates', ...one }))
  }
}
