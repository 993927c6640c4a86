import { type Fit, fitOf, type MethodVersion, queuedVersions } from '../../../contract/queues/method-version.ts'
import type { Endpoint } from '../endpoint.ts'

/** What the instance has of a version of a method. A command does not say. */
export function fitAt(endpoint: Endpoint, version: MethodVersion): Fit {
  return fitOf(queuedAt(endpoint), version)
}

/** As `queuedVersions`. Undefined: the instance does not say which it has. */
export function queuedAt(endpoint: Endpoint): readonly string[] | undefined {
  if (endpoint.at === 'here') return endpoint.typed && queuedVersions(endpoint.typed.contract)
  return endpoint.at === 'link' ? endpoint.queued : undefined
}
