import { BusbarError } from '../../../contract/errors.ts'
import { type Fit, fitOf, type MethodVersion, queuedVersions } from '../../../contract/queues/method-version.ts'
import type { Endpoint } from '../endpoint.ts'

/** A call that goes to the instances which suit a version of its method best. */
export interface VersionChoice extends MethodVersion {
  /**
   * It is refused if all of these end while it waits for a limit. Otherwise it goes to any other
   * then.
   */
  readonly mustFit: boolean
}

/** What the instance has of a version of a method. A command does not say. */
export function fitAt(endpoint: Endpoint, version: MethodVersion): Fit {
  return fitOf(queuedAt(endpoint), version)
}

/** As `queuedVersions`. Undefined: the instance does not say which it has. */
export function queuedAt(endpoint: Endpoint): readonly string[] | undefined {
  if (endpoint.at === 'here') return endpoint.typed && queuedVersions(endpoint.typed.contract)
  return endpoint.at === 'link' ? endpoint.queued : undefined
}

const refusals = new WeakSet<object>()

/** The error of a {@link VersionChoice} that is refused. */
export function noFittingInstance(service: string, { method }: MethodVersion): BusbarError {
  const message = `no instance of service '${service}' that serves has this version of ${method} any more`
  const error = new BusbarError('CONTRACT_MISMATCH', { message, service })
  refusals.add(error)
  return error
}

/** No instance has begun with the call. */
export function isVersionRefusal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && refusals.has(error)
}
