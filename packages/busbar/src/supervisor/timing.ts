/** Every span that the supervisor waits for, in milliseconds. */
export interface Timing {
  /** A worker whose last heartbeat is older gets no new connection while another's is younger. */
  readonly stale: number
  /** A worker whose last heartbeat is older is ended and replaced. */
  readonly stuck: number
  /** The same for a worker that has not come to loading its first service; from then on their `startTimeout` counts. */
  readonly boot: number
  /** How often heartbeats are looked at. */
  readonly watch: number
  /** How often it is looked for calls that do not stop when their time is up. */
  readonly overdue: number
  /** How long one that is to be drained waits for the others to call it no more; a blocked one may not hear of it. */
  readonly parting: number
  /** How long nothing must come or go on a connection that its client keeps before one that is drained closes it. */
  readonly quiet: number
  /** In development: how long a restart waits for what the one before left to finish what it does; it is ended then. */
  readonly hurry: number
  /** How long a connection waits for a worker while none serves; it is closed then. */
  readonly backlog: number
  /** The second restart in a row waits this long, each further one twice as long as the one before, at most `backoffMax`. */
  readonly backoff: number
  readonly backoffMax: number
  /** A worker that served for so long before it died is replaced at once again. */
  readonly stable: number
  /** How often certificate files are read again, beside the file system's own notices. */
  readonly certificates: number
  /** How long `terminate()` may take: a thread inside a blocking system call never ends. */
  readonly terminate: number
}

/** The most connections that wait while no worker serves; a further one is closed at once. */
export const backlogLimit = 1024

/**
 * `stale` leaves room for a loop turn full of 4 ms requests (100 of them: 400 ms); `stuck` for the longest
 * synchronous work that somebody may want to finish.
 */
export const defaultTiming: Timing = {
  stale: 1000,
  stuck: 30_000,
  boot: 30_000,
  watch: 250,
  overdue: 50,
  parting: 3000,
  quiet: 500,
  hurry: 1000,
  backlog: 10_000,
  backoff: 250,
  backoffMax: 30_000,
  stable: 60_000,
  certificates: 10_000,
  terminate: 1000,
}
