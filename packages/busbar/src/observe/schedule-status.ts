/** An entry of the config's `schedule`. */
export interface ScheduleStats {
  readonly name: string
  readonly cron: string
  readonly timeZone: string | null
  /** What it runs: `reports.nightly`, `POST http://web.internal/clean`, or a file. */
  readonly target: string
  readonly overlap: 'skip' | 'queue' | 'allow'
  /** Milliseconds since 1970; null if there is no further time. */
  readonly next: number | null
  /** Runs that have not ended. */
  readonly running: number
  /** Totals since the start of the app. */
  readonly succeeded: number
  readonly failed: number
  /** The last ones, the oldest first. */
  readonly runs: readonly ScheduledRun[]
}

export interface ScheduledRun {
  /** Milliseconds since 1970. */
  readonly planned: number
  /** Null if nothing ran. */
  readonly started: number | null
  /** Milliseconds; null if nothing ran, or the run has not ended. */
  readonly took: number | null
  readonly outcome: 'running' | 'succeeded' | 'failed' | 'overlapped' | 'missed'
  /** Why it failed. */
  readonly error: string | null
}
