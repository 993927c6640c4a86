/** What costs much of the time of an app's calls. */
export interface SlowPart {
  readonly kind: 'blocked' | 'waiting' | 'loop' | 'service' | 'hop' | 'delay' | 'elsewhere'
  /** A worker, a service, or a hop. */
  readonly what: string
  /** One sentence. */
  readonly text: string
  /** Those of the sentence. Times are milliseconds, shares are from 0 to 1. */
  readonly figures: Readonly<Record<string, number>>
}
