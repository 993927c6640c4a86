/**
 * Which process runs a schedule, and what outlives it. `runner-state.ts` keeps that in files of one
 * machine, `cluster-state.ts` in the servers of a cluster.
 */
export interface ScheduleState {
  /** Called when there is a schedule for the first time. */
  open(): void
  /** Whether this process runs the schedule. */
  readonly isRunner: boolean
  /** Milliseconds since 1970: up to then, all times of this entry were dealt with. */
  handled(entry: string): number | undefined
  handle(entry: string, time: number): void
  /**
   * Keeps what {@link handle} was told in this turn, before a run begins. False: another process
   * may run it.
   */
  commit(): Promise<boolean>
  /** Forgets the entries that are in the config no more. */
  keep(entries: readonly string[]): void
  /** Another process can take over at once. */
  close(): Promise<void>
}
