import { relative } from 'node:path'
import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { needsRestart } from '../../supervisor/generations/difference.ts'
import { LiveApp } from '../../supervisor/live-app.ts'
import type { RunningApp } from '../../supervisor/running-app.ts'
import { announce } from '../terminal/banner.ts'
import type { CommandContext } from '../command.ts'
import { resolveOperand } from '../operand.ts'
import { type Session, openSession } from '../session.ts'
import { changedIn, outdatedIn, watchedBy } from '../watch/sources.ts'
import { type Unseen, type Watching, watchFiles } from '../watch/watch-files.ts'

const unseenBecause: Readonly<Record<Unseen, string>> = {
  limit: 'there are more folders than can be watched',
  permission: 'there are folders that this user may not read',
}

/**
 * `busbar dev`: runs the app and restarts it whenever its files change, until a signal stops it.
 */
export async function dev(context: CommandContext): Promise<number> {
  const session = openSession(context)
  const loop = new DevLoop(context, session)
  try {
    await Promise.race([session.stopRequested, loop.run()])
    return 0
  } finally {
    session.announceStopped(await loop.close())
    await session.close()
  }
}

class DevLoop {
  readonly #context: CommandContext
  readonly #session: Session
  readonly #changes = new ChangedPaths()
  readonly #live: LiveApp
  #app: App | undefined
  #watching: Watching | undefined
  #watched = ''
  #closed = false
  /** The paths that have changed since the running version was loaded. */
  #outdated: readonly string[] = []

  constructor(context: CommandContext, session: Session) {
    this.#context = context
    this.#session = session
    this.#live = new LiveApp({
      start: (app) => session.startApp(app, 'dev', (next) => this.#restart(next)),
      needsRestart: needsRestart,
      restarting: (why) => session.log.event('info', `${why}: the whole app stops and starts again`),
      ended: (reason) => {
        if (reason.why === 'failed') session.report(reason.error)
      },
    })
  }

  /** Ends when closed. Changes during a restart are collected for the next one. */
  async run(): Promise<void> {
    await this.#watch()
    while (!this.#closed) {
      await this.#renew()
      const paths = await this.#changes.next()
      this.#outdated = [...this.#outdated, ...paths]
      this.#logChanged(paths)
    }
  }

  /** Resolves to the app that ran last, after it has stopped. */
  async close(): Promise<RunningApp | undefined> {
    this.#closed = true
    this.#watching?.close()
    return await this.#live.stop()
  }

  /**
   * Loads and starts the current version. On failure, logs the error; the running version stays.
   */
  async #renew(): Promise<void> {
    const { log } = this.#session
    try {
      const began = performance.now()
      const app = (this.#app = await this.#session.loadApp())
      await this.#watch()
      const outcome = await this.#live.renew(app, (running) => outdatedIn(running, this.#outdated))
      if (outcome === 'replaced') log.event('info', `restarted in ${Math.round(performance.now() - began)} ms`)
      if (outcome === 'started') this.#announce(this.#live.running, began)
      this.#outdated = []
    } catch (error) {
      // No change of a file mends the command line.
      if (BusbarError.is(error) && error.code === 'USAGE') throw error
      if (this.#closed) return
      this.#session.report(error)
      const now =
        this.#live.running === undefined
          ? 'nothing runs; the next change starts the app'
          : 'the previous version keeps serving'
      log.event('warn', now)
    }
  }

  #restart(next: App): void {
    const restarted = this.#live.restart(next, 'busbar restart')
    restarted.catch((error: unknown) => this.#session.report(error))
  }

  /** `running` is undefined if the app has already ended. */
  #announce(running: RunningApp | undefined, began: number): void {
    if (running === undefined) return
    announce(running, { terminal: this.#context.terminal, log: this.#session.log, took: performance.now() - began })
    this.#session.announcePage(running)
  }

  /**
   * Called before the app is loaded, and the new watch starts before the old one ends: no change is
   * missed.
   */
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
    for (const reason of this.#watching.unseen)
      this.#session.log.event('warn', `${unseenBecause[reason]}: changes in them are not seen`)
  }

  #logChanged(paths: readonly string[]): void {
    const files = paths.map((path) => this.#show(path))
    const shown = files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more` : files.join(', ')
    this.#session.log.event('info', `${changedIn(this.#app, paths).join(', ')} changed (${shown}): restarting`)
  }

  #show(path: string): string {
    return relative(this.#app?.root ?? this.#context.terminal.cwd, path) || path
  }
}

/** Collects changed paths until the loop reads them. */
class ChangedPaths {
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
