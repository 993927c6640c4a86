/** A generated app at one placement, as a process of its own, and what it advises. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartedApp } from '../started-app.ts'
import { type GeneratedApp, type Placement, programOf } from './generated-app.ts'

/** Of traces: the bytes of calls are known from them. */
const sample = 0.05

export interface Suggestion {
  readonly moves: readonly { readonly service: string; readonly run: Placement[string] }[]
  readonly text: string
}

export class PlacedApp implements AsyncDisposable {
  readonly placement: Placement
  readonly #app: StartedApp

  private constructor(placement: Placement, app: StartedApp) {
    this.placement = placement
    this.#app = app
  }

  get url(): string {
    return this.#app.url
  }

  /** `cache`: the folder where the measured costs of calls are kept. */
  static async start(app: GeneratedApp, placement: Placement, cache: string): Promise<PlacedApp> {
    const folder = mkdtempSync(join(tmpdir(), 'busbar-advice-'))
    for (const service of app.services) {
      mkdirSync(join(folder, service.name))
      writeFileSync(join(folder, service.name, 'index.js'), programOf(service))
    }
    const services = Object.fromEntries(
      app.services.map(({ name }) => [name, { path: `./${name}`, run: placement[name] }]),
    )
    const config = { gateway: { port: 0, entry: 'web' }, traces: { sample }, services }
    writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
    return new PlacedApp(placement, await StartedApp.start(folder, { XDG_CACHE_HOME: cache }))
  }

  /** The best suggestion, if there is one. The app needs load meanwhile. */
  async advice(seconds: number): Promise<Suggestion | undefined> {
    const { suggestions } = (await this.#app.ask('GET', `/advice?seconds=${seconds}`)) as { suggestions: Suggestion[] }
    return suggestions[0]
  }

  /** Measures the costs of calls on this machine, without load. */
  async calibrate(): Promise<{ readonly others: number }> {
    const { costs } = (await this.#app.ask('POST', '/advice/costs', {})) as { costs: { others: number } }
    return costs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]()
  }
}
