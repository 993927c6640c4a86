import { relative } from 'node:path'
import type { App } from '../config/app.ts'
import { LiveApp } from '../supervisor/live-app.ts'
import type { RunningApp } from '../supervisor/running.ts'
import { announce } from './banner.ts'
import type { Context } from './context.ts'
import { type Session, openSession, resolveOperand } from './session.ts'
import { changedIn, outdatedIn, watchedBy } from './sources.ts'
import { type Watching, watchFiles } from './watch.ts'

/** `busbar dev`: runs the app and replaces it by its new version whenever its files change, until a signal stops it. */
export async function dev(context: Context): Promise<number> {
  const session = openSession(context)
  const loop = new DevLoop(context, session)
  try {
    await Promise.race([session.stopWish, loop.run()])
    return 0
  } finally {
    session.sayStopped(await loop.close())
    await session.close()
  }
}

class DevLoop {
  readonly #context: Context
  readonly #session: Session
  readonly #changes = new Mailbox()
  readonly #live: LiveApp
  #app: App | undefined
  #watching: Watching | undefined
  #watched = ''
  #closed = false
  /** What has changed since a version came up. */
  #outdated: readonly string[] = []

  constructor(context: Context, session: Session) {
    this.#context = context
    this.#session = session
    this.#live = new LiveApp({
      start: (app) => session.startApp(app, 'dev'),
      canRestartInto: context.parts.canRestartInto,
      replacing: () =>
        session.log.event('info', 'ports, workers or services changed: all of it stops and starts again'),
      ended: (reason) => {
        if (reason.why === 'failed') session.report(reason.error)
      },
    })
  }

  /** Ends only when closed. Changes that come while one is carried out wait for the next turn, all together. */
  async run(): Promise<void> {
    await this.#watch()
    while (!this.#closed) {
      await this.#renew()
      const paths = await this.#changes.next()
      this.#outdated = [...this.#outdated, ...paths]
      this.#sayChanged(paths)
    }
  }

  /** Resolves to what ran last, stopped. */
  async close(): Promise<RunningApp | undefined> {
    this.#closed = true
    this.#watching?.close()
    return await this.#live.stop()
  }

  /** Brings up the version that the files hold now. A failure is said, and leaves what runs as it is. */
  async #renew(): Promise<void> {
    const { log } = this.#session
    try {
      const began = performance.now()
      const app = (this.#app = await this.#session.loadApp())
      await this.#watch()
      const outcome = await this.#live.renew(app, (running) => outdatedIn(running, app, this.#outdated))
      if (outcome === 'restarted') log.event('info', `restarted in ${Math.round(performance.now() - began)} ms`)
      if (outcome === 'started') this.#announce(this.#live.running, began)
      this.#outdated = []
    } catch (error) {
      if (this.#closed) return
      this.#session.report(error)
      const now =
        this.#live.running === undefined
          ? 'nothing runs; the next change starts it'
          : 'the version before goes on serving'
      log.event('warn', now)
    }
  }

  /** It may have ended already. */
  #announce(running: RunningApp | undefined, began: number): void {
    if (running === undefined) return
    announce(running, { terminal: this.#context.terminal, log: this.#session.log, took: performance.now() - began })
  }

  /** Before anything is loaded, so that no change is missed; and the new watch stands before the old one goes. */
  async #watch(): Promise<void> {
    const { folders, files } = watchedBy(this.#app, resolveOperand(this.#context))
    const watched = JSON.stringify([folders, files])
    if (watched === this.#watched || this.#closed) return
    const before = this.#watching
    this.#watching = await watchFiles({ folders, files, changed: (paths) => this.#changes.put(paths) })
    this.#watched = watched
    before?.close()
    if (this.#closed) this.#watching.close()
    if (this.#app !== undefined)
      this.#session.log.event('info', `watching ${folders.map((folder) => this.#show(folder)).join(', ')}`)
    if (this.#watching.truncated) this.#session.log.event('warn', 'there are more folders than can be watched')
  }

  #sayChanged(paths: readonly string[]): void {
    const files = paths.map((path) => this.#show(path))
    const shown = files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more` : files.join(', ')
    this.#session.log.event('info', `${changedIn(this.#app, paths).join(', ')} changed (${shown}): restarting`)
  }

  #show(path: string): string {
    return relative(this.#app?.root ?? this.#context.terminal.cwd, path) || path
  }
}

/** Holds changed paths until the loop has time for them. */
class Mailbox {
  readonly #paths = new Set<string>()
  #waiting: (() => void) | undefined

  put(paths: readonly string[]): void {
    for (const path of paths) this.#paths.add(path)
    this.#waiting?.()
  }

  async next(): Promise<string[]> {
    if (this.#paths.size === 0) await new Promise<void>((resolve) => (this.#waiting = resolve))
    const paths = [...this.#paths]
    this.#paths.clear()
    return paths
  }
}
