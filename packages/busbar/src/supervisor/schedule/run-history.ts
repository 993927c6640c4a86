import type { ScheduledRun } from '../../observe/schedule-status.ts'

/** Runs of an entry that are kept. */
const kept = 20

/** The last runs of an entry, and those that were not run. */
export class RunHistory {
  readonly #runs: ScheduledRun[] = []
  succeeded = 0
  failed = 0

  /** Oldest first. */
  get runs(): readonly ScheduledRun[] {
    return this.#runs
  }

  /** Notes a run that begins. The result records its end. */
  begin(planned: number): (error: Error | undefined) => ScheduledRun {
    const started = Date.now()
    const began = performance.now()
    let run: ScheduledRun = { planned, started, took: null, outcome: 'running', error: null }
    this.#add(run)
    return (error) => {
      if (error === undefined) this.succeeded++
      else this.failed++
      const ended: ScheduledRun = {
        ...run,
        took: Math.round(performance.now() - began),
        outcome: error === undefined ? 'succeeded' : 'failed',
        error: error?.message ?? null,
      }
      const at = this.#runs.indexOf(run)
      if (at >= 0) this.#runs[at] = ended
      run = ended
      return ended
    }
  }

  /** A time at which nothing ran. */
  omit(planned: number, outcome: 'overlapped' | 'missed'): void {
    this.#add({ planned, started: null, took: null, outcome, error: null })
  }

  #add(run: ScheduledRun): void {
    if (this.#runs.length === kept) this.#runs.shift()
    this.#runs.push(run)
  }
}
