import { isDeepStrictEqual } from 'node:util'
import type { App, ScheduleEntry } from '../../config/app.ts'
import type { ScheduleStats } from '../../observe/schedule-status.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { ClusterState, type ClusterStateParts } from './cluster-state.ts'
import { RunnerState } from './runner-state.ts'
import type { ScheduleState } from './schedule-state.ts'
import { ScheduledEntry } from './scheduled-entry.ts'

export interface SchedulerParts {
  /** The folder of the app, by which its state is found. */
  readonly root: string
  /** Where the state is kept. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Carries out one run. Rejects if it fails. */
  readonly run: (entry: ScheduleEntry, signal: AbortSignal) => Promise<void>
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
  /** Undefined: the app is in no cluster. */
  readonly cluster?: Omit<ClusterStateParts, 'log' | 'taken'> | undefined
}

/**
 * Runs what the config's `schedule` names. It lives in the supervisor, so there is one per app,
 * however many workers and instances there are. Among several processes of one app, one runs the
 * schedule ({@link RunnerState}); so does one host of a cluster ({@link ClusterState}).
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #state: ScheduleState
  #entries: ScheduledEntry[] = []
  /** Entries that are in the config no more, and whose runs have not ended. */
  readonly #leaving = new Set<ScheduledEntry>()
  #open = true

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    const { cluster, log } = parts
    const taken = (): void => this.#resume()
    this.#state = cluster === undefined ? new RunnerState(parts) : new ClusterState({ ...cluster, log, taken })
  }

  get stats(): readonly ScheduleStats[] {
    return this.#entries.map(({ stats }) => stats)
  }

  /** Applies the schedule of the app, or of a new version of it. Unchanged entries continue. */
  use({ schedule = [] }: Pick<App, 'schedule'>): void {
    if (!this.#open) return
    if (schedule.length > 0) this.#state.open()
    this.#state.keep(schedule.map(({ name }) => name))
    const before = this.#entries
    this.#entries = schedule.map((entry) => {
      const same = before.find((one) => isDeepStrictEqual(one.entry, entry))
      return same ?? this.#create(entry)
    })
    for (const one of before) if (!this.#entries.includes(one)) void this.#leave(one)
  }

  /**
   * No run begins any more. Resolves when all runs have ended; ends those that take longer than
   * `limit` milliseconds.
   */
  async close(limit: number): Promise<void> {
    this.#open = false
    for (const entry of this.#entries) entry.stop()
    await this.#state.close()
    const all = [...this.#entries, ...this.#leaving]
    const ended = Promise.all(all.map((entry) => entry.ended()))
    if (await settlesWithin(limit, [ended])) return
    for (const entry of all) entry.abort()
    await ended
  }

  #create(entry: ScheduleEntry): ScheduledEntry {
    const { run, log } = this.#parts
    const state = this.#state
    return new ScheduledEntry({
      entry,
      run,
      log,
      isRunner: () => state.isRunner,
      handled: state.handled(entry.name),
      handle: (planned) => state.handle(entry.name, planned),
      commit: () => state.commit(),
    })
  }

  #resume(): void {
    for (const entry of this.#entries) entry.resume(this.#state.handled(entry.entry.name))
  }

  async #leave(entry: ScheduledEntry): Promise<void> {
    this.#leaving.add(entry)
    entry.stop()
    await entry.ended()
    this.#leaving.delete(entry)
  }
}
