import type { ScheduleEntry } from '../../config/app.ts'
import type { ScheduleStats } from '../../observe/schedule-status.ts'
import { nextTime } from '../../shared/time/cron-times.ts'
import { RunHistory } from './run-history.ts'

export interface ScheduledEntryParts {
  readonly entry: ScheduleEntry
  /** Carries out one run. Rejects if it fails. */
  readonly run: (entry: ScheduleEntry, signal: AbortSignal) => Promise<void>
  /** Whether this process is the one that runs the schedule of the app, now. */
  readonly isRunner: () => boolean
  /** The last time that was dealt with, in this run of the app or an earlier one. */
  readonly handled: number | undefined
  /** This time was dealt with. */
  readonly handle: (planned: number) => void
  /** Keeps that, before a run begins. False: another host may run it. */
  readonly commit: () => Promise<boolean>
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
}

/**
 * Milliseconds. The system's clock may be set, and the machine may sleep: the time is looked at
 * this often.
 */
const longestWait = 30_000

/** Milliseconds. A time that is noticed later than this was missed. */
const missedAfter = 60_000

/**
 * Milliseconds by which clocks may differ. A last time that lies further in the future, and would
 * cost the entry a time, is not believed: some clock was wrong.
 */
const clockTolerance = 60_000

/**
 * Runs at a time under `overlap: 'allow'`. Each costs memory, and a target that hangs must not
 * collect them.
 */
const mostRuns = 100

/** One entry of the schedule: waits for its times, and runs it by its policies. */
export class ScheduledEntry {
  readonly #parts: ScheduledEntryParts
  readonly #history = new RunHistory()
  /** Up to then, all times were looked at. */
  #lookedAt: number
  readonly #running = new Map<Promise<void>, AbortController>()
  #timer: NodeJS.Timeout | undefined
  /** Runs that wait for the end of their jitter, by their planned time. */
  readonly #delays = new Map<number, NodeJS.Timeout>()
  #next: number | undefined
  /** The planned time of the run that waits for the previous one. */
  #queued: number | undefined
  #open = true

  constructor(parts: ScheduledEntryParts) {
    this.#parts = parts
    const { entry, handled = Date.now() } = parts
    this.#lookedAt = handled
    this.#next = nextTime(entry.cron, entry.timeZone, new Date(handled))?.getTime()
    // From now on times can be missed.
    if (parts.handled === undefined && parts.isRunner()) parts.handle(handled)
    this.#checkClock('the clock was ahead then, or is behind now')
    this.#wait()
  }

  get entry(): ScheduleEntry {
    return this.#parts.entry
  }

  get stats(): ScheduleStats {
    const { name, cron, timeZone = null, target, overlap } = this.entry
    const { runs, succeeded, failed } = this.#history
    return {
      name,
      cron,
      timeZone,
      target: targetText(target),
      overlap,
      next: this.#next ?? null,
      running: this.#running.size,
      succeeded,
      failed,
      runs,
    }
  }

  /**
   * From now on this process runs the schedule. `handled`: the last time that was dealt with, by
   * whichever process.
   */
  resume(handled: number | undefined): void {
    if (!this.#open) return
    if (handled === undefined) return this.#parts.handle(this.#lookedAt)
    clearTimeout(this.#timer)
    this.#forgetWaiting()
    this.#lookedAt = handled
    this.#next = nextTime(this.entry.cron, this.entry.timeZone, new Date(handled))?.getTime()
    this.#checkClock('the clock of the host that ran the schedule was ahead, or that of this host is behind')
    this.#wait()
  }

  /**
   * No run begins any more. Those that have begun continue. Those that wait were not dealt with:
   * the next run of the app finds them.
   */
  stop(): void {
    this.#open = false
    clearTimeout(this.#timer)
    this.#forgetWaiting()
  }

  /** Resolves when the runs have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.keys())
  }

  /** Ends the runs. */
  abort(): void {
    for (const controller of this.#running.values()) controller.abort(new Error('the app stops'))
  }

  /** They were not dealt with. */
  #forgetWaiting(): void {
    this.#queued = undefined
    for (const delay of this.#delays.values()) clearTimeout(delay)
    this.#delays.clear()
  }

  #wait(): void {
    if (!this.#open || this.#next === undefined) return
    const wait = Math.min(longestWait, Math.max(0, this.#next - Date.now()))
    this.#timer = setTimeout(() => this.#look(), wait).unref()
  }

  /**
   * Times up to the last one are dealt with. If that was read from a wrong clock, the entry would
   * wait until the right one has caught up.
   */
  #checkClock(why: string): void {
    const now = Date.now()
    const ahead = this.#lookedAt - now
    if (ahead <= clockTolerance || !this.#parts.isRunner()) return
    const { cron, timeZone, name } = this.entry
    const next = nextTime(cron, timeZone, new Date(now))?.getTime()
    if (next === undefined || this.#lookedAt <= next + clockTolerance) return
    const what = `its last time, ${new Date(this.#lookedAt).toISOString()}, is ${Math.round(ahead / 1000)} s in the future`
    this.#parts.log('warn', `schedule ${name}: ${what}: ${why}; its next time is ${new Date(next).toISOString()}`)
    this.#lookedAt = now
    this.#next = next
    this.#handle()
  }

  #look(): void {
    this.#checkClock('the clock was set back')
    const now = Date.now()
    const planned = this.#next
    if (planned !== undefined && planned <= now) {
      const { cron, timeZone } = this.entry
      // One run stands for all times that were missed.
      this.#next = nextTime(cron, timeZone, new Date(now))?.getTime()
      if (this.#parts.isRunner()) {
        this.#lookedAt = now
        this.#due(planned, now)
        this.#handle()
      }
    }
    this.#wait()
  }

  /** What waits is not dealt with yet. */
  #handle(): void {
    const waiting = [...this.#delays.keys(), ...(this.#queued === undefined ? [] : [this.#queued])]
    this.#parts.handle(Math.min(this.#lookedAt, ...waiting.map((planned) => planned - 1)))
  }

  #due(planned: number, now: number): void {
    const { missed, jitter, name } = this.entry
    if (now - planned > missedAfter) {
      this.#history.omit(planned, 'missed')
      const what = missed === 'run' ? 'it runs now' : 'it is skipped'
      this.#parts.log('warn', `schedule ${name}: ${new Date(planned).toISOString()} was missed, ${what}`)
      if (missed === 'skip') return
    }
    const delay = jitter * Math.random()
    if (delay < 1) return this.#begin(planned)
    const begin = (): void => {
      this.#delays.delete(planned)
      this.#begin(planned)
      this.#handle()
    }
    this.#delays.set(planned, setTimeout(begin, delay).unref())
  }

  #begin(planned: number): void {
    const { overlap, name } = this.entry
    const most = overlap === 'allow' ? mostRuns : 1
    if (this.#running.size < most) return this.#run(planned)
    if (overlap === 'queue' && this.#queued === undefined) {
      this.#queued = planned
      return
    }
    this.#history.omit(planned, 'overlapped')
    this.#parts.log('warn', `schedule ${name}: the previous run has not ended, so this one is skipped`)
  }

  #run(planned: number): void {
    const controller = new AbortController()
    const run = this.#carryOut(planned, controller)
    this.#running.set(run, controller)
    void run.then(() => {
      this.#running.delete(run)
      const queued = this.#queued
      if (queued === undefined || !this.#open) return
      this.#queued = undefined
      this.#run(queued)
      this.#handle()
    })
  }

  /** Never rejects. */
  async #carryOut(planned: number, controller: AbortController): Promise<void> {
    const { entry, run, log, commit } = this.#parts
    if (!(await commit())) {
      this.#history.omit(planned, 'missed')
      return log('warn', `schedule ${entry.name}: not run: another host may run the schedule`)
    }
    const end = this.#history.begin(planned)
    const late = new Error(`it did not end within ${entry.timeout} ms`)
    const timer = setTimeout(() => controller.abort(late), entry.timeout)
    try {
      await run(entry, controller.signal)
      // A task that was told to end may still exit with 0.
      controller.signal.throwIfAborted()
      log('info', `schedule ${entry.name}: succeeded in ${end(undefined).took} ms`)
    } catch (thrown) {
      const error = controller.signal.aborted ? (controller.signal.reason as Error) : (thrown as Error)
      log('error', `schedule ${entry.name}: failed after ${end(error).took} ms: ${error.message}`)
    } finally {
      clearTimeout(timer)
    }
  }
}

function targetText(target: ScheduleEntry['target']): string {
  if (target.kind === 'call') return `${target.service}.${target.method}`
  return target.kind === 'task' ? target.file : `${target.verb} http://${target.service}.internal${target.path}`
}
