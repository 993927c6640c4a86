/**
 * Errors of typed calls: as plain records, which links carry, and back; and of calls that reach
 * nobody.
 */
import { BusbarError, isErrorCode, type ErrorCode, type ErrorRecord } from '../../contract/errors.ts'
import { fromWire } from '../../contract/host/failures.ts'
import type { ErrorSpec } from '../../contract/method.ts'
import { serviceUnknown } from '../../contract/host/unknown-names.ts'
import { hopLimitMessage } from '../http/problem-response.ts'
import type { Router } from '../routing/router.ts'
import { reasonUnreachable } from '../routing/unreachable.ts'

/** Omits the stack. The service's log has it. */
export function toErrorRecord({ code, message, hint, service, data }: BusbarError<string>): ErrorRecord {
  return {
    // May be a code that the contract declares.
    code: code as ErrorCode,
    message,
    ...(hint !== undefined && { hint }),
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data }),
  }
}

/** `errors`: the errors that the method declares. */
export function fromErrorRecord(
  record: ErrorRecord,
  service: string,
  errors: Readonly<Record<string, ErrorSpec>>,
): BusbarError<string> {
  const { code, message, data } = record
  if (isErrorCode(code)) return new BusbarError(code, { ...record, service: record.service ?? service })
  const declared = fromWire({ code, message, data, status: 0 }, service, errors)
  return (
    declared ?? new BusbarError('INTERNAL', { message: `${message}, which its contract does not declare`, service })
  )
}

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
