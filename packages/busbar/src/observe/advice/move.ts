/** A change of the placement, and what it changes. */
import type { Service } from '../../config/app.ts'

export interface Move {
  readonly service: string
  readonly from: Service['run']
  readonly run: Service['run']
}

/** Before minus after is what is saved. Times are milliseconds. */
export interface Effect {
  /** Processors. */
  readonly cpu: number
  readonly mean: number | null
  readonly p99: number | null
  /** Of the busiest workers, or of the machine. */
  readonly utilization: number
}
