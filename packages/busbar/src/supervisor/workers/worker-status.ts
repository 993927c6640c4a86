import type { BusbarError } from '../../contract/errors.ts'
import type { InstanceSpec, ServiceReport } from '../../shared/control-messages.ts'
import type { SlotSpec } from '../plan.ts'
import type { WorkerExit } from './worker-exit.ts'

/** Times are milliseconds of `Date.now()`. */
export type WorkerState =
  | { readonly state: 'starting'; readonly since: number }
  | { readonly state: 'serving'; readonly since: number; readonly services: readonly ServiceReport[] }
  | { readonly state: 'draining'; readonly since: number }
  /** The worker died; the next one starts at `until`. */
  | { readonly state: 'waiting'; readonly until: number }
  /** The worker died more than `maxRestarts` times in a row: the app ends. */
  | { readonly state: 'givenUp'; readonly error: BusbarError }
  | { readonly state: 'stopped' }

/** A slot and the worker in it. */
export type WorkerStatus = WorkerState & {
  /** The index of the slot. */
  readonly worker: number
  /** Human-readable: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: SlotSpec['kind']
  readonly hosts: readonly InstanceSpec[]
  /** The operating system's process ID; all threads have the same. */
  readonly pid: number | undefined
  /** When the worker was started; undefined before the first worker. */
  readonly startedAt: number | undefined
  /** The row of the worker in the shared memory; undefined before the first worker. */
  readonly row: number | undefined
  /** How often a worker died in this slot; a `restart()` does not count. */
  readonly deaths: number
  readonly lastExit: WorkerExit | undefined
  /** Open connections that the supervisor transferred; 0 under `accept: 'reusePort'`. */
  readonly connections: number
  /** The services in it whose health checks fail, and why. */
  readonly unhealthy: ReadonlyMap<string, string>
  /** Undefined while there is no spare. */
  readonly spare: SpareStatus | undefined
}

export interface SpareStatus {
  readonly state: 'starting' | 'ready'
  /** As {@link WorkerStatus.row}. */
  readonly row: number
}
