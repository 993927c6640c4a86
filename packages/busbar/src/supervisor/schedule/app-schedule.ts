import type { App } from '../../config/app.ts'
import type { ScheduleStats } from '../../observe/schedule-status.ts'
import type { CallPorts } from '../accept/call-ports.ts'
import type { AppCluster } from '../cluster/app-cluster.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { StartOptions } from '../running-app.ts'
import { TargetRunner } from './run-target.ts'
import { Scheduler } from './scheduler.ts'

export interface AppScheduleParts {
  readonly app: () => App
  readonly callPorts: Pick<CallPorts, 'access'>
  readonly slots: Pick<SlotTable, 'workers'>
  readonly options: StartOptions
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly cluster: Pick<AppCluster, 'connection'>
  /** The id of this app's host. */
  readonly host: string
}

/** The schedule of a running app. An app without a command that owns it (`startApp`) runs none. */
export class AppSchedule {
  readonly #parts: AppScheduleParts
  #scheduler: Scheduler | undefined

  constructor(parts: AppScheduleParts) {
    this.#parts = parts
  }

  get stats(): readonly ScheduleStats[] {
    return this.#scheduler?.stats ?? []
  }

  /** Applies a new version of the app. */
  use(app: App): void {
    this.#scheduler?.use(app)
  }

  /**
   * Called when the app serves. Returns a function that stops planning and waits for the runs: the
   * workers still serve meanwhile.
   */
  open(): () => Promise<void> {
    const { app, options, log, callPorts, slots, cluster, host } = this.#parts
    if (options.stateFolder === undefined) return async () => {}
    const target = new TargetRunner({
      app,
      calls: () => callPorts.access,
      workers: () => slots.workers,
      log: options.log,
      isLogBehind: options.isLogBehind,
    })
    const { root, name, cluster: config } = app()
    const shared = { app: name, host, connection: () => cluster.connection }
    const scheduler = (this.#scheduler = new Scheduler({
      root,
      cluster: config && { ...shared, config },
      folder: options.stateFolder,
      run: (entry, signal) => target.run(entry, signal),
      log,
    }))
    scheduler.use(app())
    return async () => {
      await scheduler.close(app().stopTimeout)
      await target.close()
    }
  }
}
