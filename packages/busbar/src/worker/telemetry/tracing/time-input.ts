import type { TimeInput } from '@opentelemetry/api'

/**
 * Milliseconds since 1970. A number below the start of this process is one of `performance.now()`,
 * as the SDK reads it.
 */
export function toMilliseconds(time: TimeInput | undefined): number | undefined {
  if (time === undefined || time === null) return undefined
  if (Array.isArray(time)) return time[0] * 1000 + time[1] / 1e6
  if (typeof time !== 'number') return time.getTime()
  return time < performance.timeOrigin ? performance.timeOrigin + time : time
}
