import type { CountedPaths } from '../../mesh/meter.ts'
import type { FoundTemplates } from '../../shared/path-templates/known-templates.ts'
import type { Outbox } from '../reporting/outbox.ts'

/** Milliseconds: a program adds its routes one after the other. */
const batchTime = 50

/** Passes the path templates of this worker's services on to all workers, by the supervisor. */
export class TemplateReports {
  readonly #templates: CountedPaths
  readonly #outbox: Outbox
  readonly #waiting: FoundTemplates[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(templates: CountedPaths, outbox: Outbox) {
    this.#templates = templates
    this.#outbox = outbox
  }

  /**
   * Returns those that were not known; others are not passed on. `withdrawn`: what was added, and
   * is no template after all.
   */
  add(service: string, templates: readonly string[], withdrawn: readonly string[] = []): readonly string[] {
    const change = this.#templates.add({ service, templates, withdrawn })
    if (change !== undefined) {
      this.#waiting.push(change)
      this.#timer ??= setTimeout(() => this.flush(), batchTime).unref()
    }
    return change?.templates ?? []
  }

  /** False also if the service has no place for it. */
  has(service: string, template: string): boolean {
    return this.#templates.has(service, template)
  }

  /** Sends those that wait. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [service, changes] of Map.groupBy(this.#waiting.splice(0), (one) => one.service)) {
      const withdrawn = changes.flatMap((one) => one.withdrawn)
      const templates = changes.flatMap((one) => one.templates).filter((text) => !withdrawn.includes(text))
      this.#outbox.post({ type: 'pathTemplates', service, templates, withdrawn })
    }
  }
}
