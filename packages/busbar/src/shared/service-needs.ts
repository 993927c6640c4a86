/** How long a service waits for the services that it needs, and the error if they do not start. */
import type { Service } from './app/app.ts'
import type { ErrorRecord } from '../contract/errors.ts'

type Needing = Pick<Service, 'name' | 'needs' | 'startTimeout'>

/**
 * Milliseconds within which a service must be ready: its own `startTimeout` after those of
 * everything it needs, in sequence. The needs of `services` have no cycle.
 */
export function timeToServe({ startTimeout, needs }: Needing, services: readonly Needing[]): number {
  const needed = services.filter(({ name }) => needs.includes(name))
  return startTimeout + Math.max(0, ...needed.map((one) => timeToServe(one, services)))
}

/** `why`: why the needed service is not ready, as a clause without a subject. */
export function needsUnmet(service: string, needed: string, why: string): ErrorRecord {
  return {
    code: 'NEEDS_UNMET',
    message: `service '${service}' cannot start: it needs service '${needed}', which ${why}`,
    hint: `The log shows the state of ${needed}; ${service} starts as soon as that is ready.`,
    service,
  }
}

export function notServedIn(milliseconds: number): string {
  return `was not ready within ${milliseconds / 1000} s`
}
