/** How callers describe a change of a running app. */
import type { Placement } from '../../config/app.ts'

/**
 * What a generation replaces besides what the config changed: every worker, the workers that host
 * one of these services, none, or the worker of the slot at this position.
 */
export type Outdated = 'all' | readonly string[] | { readonly position: string }

/** The number of instances that a service gets; `+2` and `-1` are relative to the present one. */
export type InstanceCount = number | `+${number}` | `-${number}`

/** What a generation has changed, in workers. */
export interface Change {
  /** Its number; the app starts with the first. */
  readonly generation: number
  readonly replaced: number
  readonly added: number
  readonly removed: number
  readonly kept: number
  /** Milliseconds until it took over. */
  readonly took: number
}

/** One of several moves that are one change. */
export interface Relocation {
  readonly service: string
  readonly run: Placement['run']
}

export interface MoveTarget {
  readonly run: Placement['run']
  /** Default: as many as before, and one for a service that was shared. */
  readonly instances?: number | undefined
}
