/** The errors of typed calls that reach no instance. */
import { BusbarError } from '../../contract/errors.ts'
import { serviceUnknown } from '../../contract/host/unknown-names.ts'
import { hopLimitMessage } from '../http/problem-response.ts'
import type { Router } from '../routing/router.ts'
import { reasonUnreachable } from '../routing/unreachable.ts'

export function notServing(router: Router, service: string): BusbarError {
  if (!router.names.includes(service)) return serviceUnknown(service, router.names)
  return new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
}

export function notTyped(service: string): BusbarError {
  return new BusbarError('SERVICE_UNKNOWN', {
    message: `service '${service}' is a program, which has no typed methods`,
    hint: `Call it by http://${service}.internal/, or give it a contract.`,
    service,
    data: { nearest: [] },
  })
}

export function hopLimit(service: string, maxHops: number): BusbarError {
  return new BusbarError('HOP_LIMIT', {
    message: hopLimitMessage(service, maxHops),
    service,
  })
}
