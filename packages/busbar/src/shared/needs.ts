/** How long a service waits for those that it needs, and what it fails with then. */
import type { Service } from '../config/app.ts'
import type { ErrorRecord } from '../contract/errors.ts'

type Needing = Pick<Service, 'name' | 'needs' | 'startTimeout'>

/**
 * Milliseconds in which a service must serve: its own `startTimeout` behind those of whatever it needs, one after the other.
 * `services` have no circle of needs.
 */
export function timeToServe({ startTimeout, needs }: Needing, services: readonly Needing[]): number {
  const needed = services.filter(({ name }) => needs.includes(name))
  return startTimeout + Math.max(0, ...needed.map((one) => timeToServe(one, services)))
}

/** `why`: what is known of the service that does not serve, in a clause without a subject. */
export function needsUnmet(service: string, needed: string, why: string): ErrorRecord {
  return {
    code: 'NEEDS_UNMET',
    message: `service ${service} cannot start: it needs service ${needed}, which ${why}`,
    hint: `the log says what became of ${needed}; ${service} starts when that serves`,
    service,
  }
}

export function notServedIn(milliseconds: number): string {
  return `has not served within ${milliseconds / 1000} s`
}
