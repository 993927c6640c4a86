import { type App, prefersEntrance } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import type { Outdated } from './generations/changes.ts'
import type { needsRestart } from './generations/difference.ts'
import type { EndReason, RunningApp } from './running-app.ts'

export interface LiveAppParts {
  /** Resolves to undefined if the start was aborted. */
  readonly start: (app: App) => Promise<RunningApp | undefined>
  readonly needsRestart: typeof needsRestart
  /** Called before the whole app stops to start again. */
  readonly restarting: (why: string) => void
  /** The app ended by itself or was stopped. Not called for one that is replaced. */
  readonly ended: (reason: EndReason) => void
}

/** An app that follows its files: the reload of `busbar dev` and `startApp`. */
export class LiveApp {
  readonly #parts: LiveAppParts
  #running: RunningApp | undefined
  #closed = false

  constructor(parts: LiveAppParts) {
    this.#parts = parts
  }

  /** Undefined before the first start and after the app has ended. */
  get running(): RunningApp | undefined {
    return this.#running
  }

  /**
   * Applies what differs in `next` by a new generation, or stops the app and starts `next` if that
   * is not possible. `outdated` lists the services whose workers are replaced in any case. Rejects
   * when `next` cannot start: workers that were to be replaced keep serving.
   */
  async renew(next: App, outdated: (running: App) => Outdated): Promise<'replaced' | 'started' | 'aborted'> {
    const running = this.#running
    const hasEntrance = running !== undefined && running.status().entrance !== null
    const changed = running === undefined ? [] : this.#parts.needsRestart(running.app, next, hasEntrance)
    if (running !== undefined && changed.length === 0) {
      const before = running.app
      try {
        await running.replace(next, outdated(before))
        return 'replaced'
      } catch (error) {
        // Only the running app knows whether the native entrance is there for what it prefers now.
        const isOfEntrance = prefersEntrance(next) && !prefersEntrance(before)
        if (!isOfEntrance || !BusbarError.is(error) || error.code !== 'RESTART_NEEDED') throw error
        return await this.restart(next, error.message)
      }
    }
    return await this.restart(next, `${changed.join(', ')} changed`)
  }

  /** Stops the app, if it runs, and starts `next`. */
  async restart(next: App, why: string): Promise<'started' | 'aborted'> {
    const running = this.#running
    if (running !== undefined) {
      this.#parts.restarting(why)
      this.#running = undefined
      await running.stop()
    }
    return await this.#start(next)
  }

  /** Resolves to the app that ran last, after it has stopped. */
  async stop(): Promise<RunningApp | undefined> {
    this.#closed = true
    const running = this.#running
    await running?.stop()
    return running
  }

  async #start(app: App): Promise<'started' | 'aborted'> {
    const running = await this.#parts.start(app)
    if (running === undefined) return 'aborted'
    if (this.#closed) {
      await running.stop()
      return 'aborted'
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
