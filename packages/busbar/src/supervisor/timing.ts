import type { App, Service } from '../config/app.ts'
import type { SlotSpec } from './plan.ts'

/** Every duration that the supervisor waits for, in milliseconds. */
export interface Timing {
  /**
   * A worker with an older heartbeat gets no new connection while another one has a younger
   * heartbeat.
   */
  readonly stale: number
  /** A worker with an older heartbeat is ended and replaced. */
  readonly stuck: number
  /**
   * As `stuck`, before the worker loads its first service, or the longest `startTimeout`. From then
   * on the `startTimeout` of the services that load applies.
   */
  readonly boot: number
  /** The interval at which heartbeats are checked. */
  readonly watch: number
  /** The interval at which calls are checked that ignore their cancellation. */
  readonly overdue: number
  /**
   * How long a drain waits until all peers have left the worker. A blocked peer may not confirm.
   */
  readonly leave: number
  /** How long a keep-alive connection must be idle before a draining worker closes it. */
  readonly quiet: number
  /** In development: how long a restart waits for the worker that the previous restart replaced. */
  readonly devDrain: number
  /** How long a connection waits for a worker while none serves. */
  readonly backlog: number
  /**
   * The wait before the second restart in a row. Each further one doubles it, up to `backoffMax`.
   */
  readonly backoff: number
  readonly backoffMax: number
  /** A worker that served this long before it died is restarted at once. */
  readonly stable: number
  /** The interval at which certificate files are read, in addition to file system events. */
  readonly certificates: number
  /** The interval at which loads are sampled, to scale by load. */
  readonly scale: number
  /** How long `terminate()` may take. A thread inside a blocking system call never ends. */
  readonly terminate: number
}

/** The most connections that wait while no worker serves. Further ones get a 503. */
export const backlogLimit = 1024

/**
 * `stale` leaves room for an iteration of the event loop that handles 100 requests of 4 ms each.
 * `stuck` leaves room for the longest synchronous work that a program may want to finish.
 */
export const defaultTiming: Timing = {
  stale: 1000,
  stuck: 30_000,
  boot: 30_000,
  watch: 1000,
  overdue: 50,
  leave: 3000,
  quiet: 500,
  devDrain: 1000,
  backlog: 10_000,
  backoff: 250,
  backoffMax: 30_000,
  stable: 60_000,
  certificates: 10_000,
  scale: 1000,
  terminate: 1000,
}

/** `app`: as it runs. A new config may change what it says here. */
export function timingOf(app: () => Pick<App, 'stableAfter'>, overrides: Partial<Timing> = {}): Timing {
  return {
    ...defaultTiming,
    ...overrides,
    get stable() {
      return overrides.stable ?? app().stableAfter ?? defaultTiming.stable
    },
  }
}

/** A command is ended after this time: until then its callers wait for their answers. */
export function leaveLimit({ kind }: SlotSpec, { stopTimeout }: Pick<App, 'stopTimeout'>, { leave }: Timing): number {
  return kind === 'command' ? Math.max(leave, stopTimeout * 0.75) : leave
}

/** `loading`: the services whose programs the worker loads now. */
export function bootLimit({ boot }: Timing, services: readonly Service[], loading: ReadonlySet<string>): number {
  const limits = services.filter(({ name }) => loading.has(name)).map(({ startTimeout }) => startTimeout)
  // Who gives a service more time to start expects a slow machine.
  return limits.length > 0 ? Math.min(...limits) : Math.max(boot, ...services.map(({ startTimeout }) => startTimeout))
}
