import type { ScalingRange } from '../../shared/app/supervision.ts'

/** The load of a service's instances at one moment. */
export interface Load {
  /** Instances that serve. */
  readonly instances: number
  /** The share of time that their event loops were busy, 0 to 1, on average. */
  readonly utilization: number
  /** The share of the calls that they may answer at a time, 0 to 1; 0 without `concurrency`. */
  readonly occupied: number
  /** Calls that wait for an instance. */
  readonly waiting: number
  /** Milliseconds that a call waits at the rate at which calls are answered. */
  readonly queueTime: number
}

/** From here on, more instances are needed. */
export const busyFrom = 0.75
/** Milliseconds in the queue from which more instances are needed. */
export const queueFrom = 100
/** What each instance should be busy after a change. */
const target = 0.6
/** With one instance less, each of the others must stay below this: busy, and occupied. */
const idleBelow = 0.5
/**
 * Samples in a row that must agree: a peak of a second is no reason, and a pause of one even less.
 */
const samplesToGrow = 3
const samplesToShrink = 30

/**
 * Decides how many instances a service needs. Growing is fast and shrinking slow, and between the
 * two limits of utilisation nothing happens, so that the number does not swing.
 */
export class ScalingDecision {
  #busy = 0
  #idle = 0

  /** The number of instances that the service should have from now on. */
  next(load: Load, { min, max }: ScalingRange): number {
    const { instances } = load
    if (instances < min) return min
    if (instances > max) return max
    this.#busy = isBusy(load) ? this.#busy + 1 : 0
    this.#idle = isIdle(load) ? this.#idle + 1 : 0
    if (this.#busy >= samplesToGrow) return this.#decided(Math.min(max, Math.max(instances + 1, wanted(load))))
    if (this.#idle >= samplesToShrink) return this.#decided(Math.max(min, instances - 1))
    return instances
  }

  /** A new number of instances needs new samples. */
  #decided(instances: number): number {
    this.#busy = this.#idle = 0
    return instances
  }
}

function isBusy({ utilization, queueTime }: Load): boolean {
  return utilization >= busyFrom || queueTime >= queueFrom
}

function isIdle({ instances, utilization, occupied, waiting }: Load): boolean {
  const most = Math.max(utilization, occupied)
  return instances > 1 && waiting === 0 && (most * instances) / (instances - 1) < idleBelow
}

/** At most twice as many at a time: the next samples show whether that is enough. */
function wanted({ instances, utilization }: Load): number {
  return Math.min(2 * instances, Math.ceil((instances * utilization) / target))
}
