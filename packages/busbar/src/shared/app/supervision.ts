/** How many instances there may be, by load. */
export interface ScalingRange {
  readonly min: number
  readonly max: number
}

/** How long a new generation serves beside the running one, and by what factors it may be worse. */
export interface Trial {
  readonly window: number
  /** The most times as many failures. */
  readonly errors: number
  /** The most times the p99. */
  readonly p99: number
  /** Below this number of calls nothing is compared. */
  readonly calls: number
}

/** How an app starts and stops its workers. */
export interface AppSupervision {
  /** Undefined: a new generation takes over when it is ready. */
  readonly trial?: Trial | undefined
  /** How long a new generation gets more and more of the calls before it takes over, under load. */
  readonly slowStart?: number
  /** Of the shared workers. Undefined: load does not change their number. */
  readonly scaling?: ScalingRange | undefined
  /** How long a worker must serve before its death counts as the first in a row again. */
  readonly stableAfter?: number
  /** Workers that start at a time when the app starts. Undefined: no limit. */
  readonly startConcurrency?: number | undefined
  /** How long a stopping app still serves while it already reports that it is not ready. */
  readonly stopDelay?: number
}

/** When a service's instances count as started and healthy, and when they are replaced. */
export interface Supervision {
  /** Undefined: load does not change the number of instances. */
  readonly scaling?: ScalingRange | undefined
  /** `signal`: a program counts as started when it listens and has said that it is ready. */
  readonly ready?: 'listen' | 'signal'
  /** Undefined: an instance is healthy while it serves. */
  readonly health?: HealthCheck | undefined
  /** How long an instance may serve before it is replaced. */
  readonly maxUptime?: number | undefined
  readonly cronRestart?: CronTime | undefined
}

export interface HealthCheck {
  readonly path: string
  readonly interval: number
  readonly timeout: number
  /** Failed checks in a row. */
  readonly unhealthyAfter: number
  /** Passed checks in a row. */
  readonly healthyAfter: number
  /** Failed checks in a row. False: never. */
  readonly restartAfter: number | false
}

export interface CronTime {
  readonly cron: string
  /** Undefined: that of the system. */
  readonly timeZone: string | undefined
}
