import { loadApp } from '../../src/config/load.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const programs = new URL('programs', import.meta.url).pathname

export interface Delivery {
  readonly accepted: number
  readonly dropped: number
}

/** An app whose program `web` publishes, and whose services `mail` and `audit` subscribe. */
export class EventsApp implements AsyncDisposable {
  readonly app: TestApp
  readonly #folder: TestFolder

  private constructor(app: TestApp, folder: TestFolder) {
    this.app = app
    this.#folder = folder
  }

  /** `services`: those besides `web`, with their own keys. */
  static async start(
    services: Readonly<Record<'mail' | 'audit', object>> | Readonly<Record<'mail', object>> | {},
    config: object = {},
  ): Promise<EventsApp> {
    const placed = Object.entries(services).map(([name, rest]) => [name, { path: `${programs}/${name}`, ...rest }])
    const all = { web: { path: `${programs}/web`, run: 'shared' }, ...Object.fromEntries(placed) }
    const gateway = { port: 0, entry: 'web' }
    const folder = new TestFolder({ 'busbar.config.json': { gateway, services: all, ...config } })
    const load = () => loadApp(folder.path, { env: {} })
    return new EventsApp(await TestApp.startLoaded(await load(), { load }), folder)
  }

  async ask(path: string): Promise<Delivery> {
    return (await (await fetch(`${this.app.url.replace(/\/$/, '')}/${path}`)).json()) as Delivery
  }

  /** What `pattern` captures in each line, in order. */
  logged(pattern: RegExp): string[] {
    return this.app.log.flatMap(({ line }) => pattern.exec(line)?.[1] ?? [])
  }

  /** Resolves to what was logged when there are so many lines. */
  async untilLogged(pattern: RegExp, count: number): Promise<string[]> {
    await this.app.until(() => this.logged(pattern).length >= count)
    return this.logged(pattern)
  }

  events(service: string): object {
    return this.app.running.status().services.find((one) => one.service === service)!.events
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
