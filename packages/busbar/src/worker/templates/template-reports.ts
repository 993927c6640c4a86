import type { CountedPaths } from '../../mesh/meter.ts'
import type { Outbox } from '../reporting/outbox.ts'

/** Milliseconds: a program adds its routes one after the other. */
const batchTime = 50

/** Passes the path templates of this worker's services on to all workers, by the supervisor. */
export class TemplateReports {
  readonly #templates: CountedPaths
  readonly #outbox: Outbox
  readonly #waiting = new Map<string, string[]>()
  #timer: NodeJS.Timeout | undefined

  constructor(templates: CountedPaths, outbox: Outbox) {
    this.#templates = templates
    this.#outbox = outbox
  }

  /** Those that are known are not passed on. */
  add(service: string, templates: readonly string[]): void {
    const added = this.#templates.add({ service, templates })
    if (added.length === 0) return
    this.#waiting.set(service, [...(this.#waiting.get(service) ?? []), ...added])
    this.#timer ??= setTimeout(() => this.flush(), batchTime).unref()
  }

  /** The path of the template that counts a request. `url`: as the service gets it. */
  match(service: string, method: string, url: string): string | undefined {
    return this.#templates.of(service).find(method, url)?.path
  }

  /** Sends those that wait. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [service, templates] of this.#waiting) this.#outbox.post({ type: 'pathTemplates', service, templates })
    this.#waiting.clear()
  }
}
