import type { App } from '../config/app.ts'
import type { canRestartInto } from './plan.ts'
import type { EndReason, RunningApp } from './running.ts'

export interface LiveAppParts {
  /** Resolves to undefined where the start was called off. */
  readonly start: (app: App) => Promise<RunningApp | undefined>
  readonly canRestartInto: typeof canRestartInto
  /** Called before all of the app stops because it cannot be restarted into its next version. */
  readonly replacing: () => void
  /** The app ended by itself, or was stopped. Not called for one that is replaced. */
  readonly ended: (reason: EndReason) => void
}

/** An app that is brought to the version that its files hold: what `busbar dev` and `startApp` have in common. */
export class LiveApp {
  readonly #parts: LiveAppParts
  #running: RunningApp | undefined
  #closed = false

  constructor(parts: LiveAppParts) {
    this.#parts = parts
  }

  /** Undefined before the first start, and after the app has ended. */
  get running(): RunningApp | undefined {
    return this.#running
  }

  /**
   * Replaces workers, where the app runs and keeps its ports, workers and services; else stops what runs and starts `next`.
   * `outdated` lists the services whose workers are replaced; undefined means all. Rejects when `next` cannot start: workers
   * that were to be replaced go on serving.
   */
  async renew(
    next: App,
    outdated: (running: App) => readonly string[] | undefined,
  ): Promise<'restarted' | 'started' | 'called off'> {
    const running = this.#running
    if (running !== undefined && this.#parts.canRestartInto(running.app, next)) {
      await running.restart(next, outdated(running.app))
      return 'restarted'
    }
    if (running !== undefined) {
      this.#parts.replacing()
      this.#running = undefined
      await running.stop()
    }
    return await this.#start(next)
  }

  /** Resolves to what ran last, stopped. */
  async stop(): Promise<RunningApp | undefined> {
    this.#closed = true
    const running = this.#running
    await running?.stop()
    return running
  }

  async #start(app: App): Promise<'started' | 'called off'> {
    const running = await this.#parts.start(app)
    if (running === undefined) return 'called off'
    if (this.#closed) {
      await running.stop()
      return 'called off'
    }
    this.#running = running
    void running.ended.then((reason) => {
      if (this.#running !== running) return
      this.#running = undefined
      this.#parts.ended(reason)
    })
    return 'started'
  }
}
