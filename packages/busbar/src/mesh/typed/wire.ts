/** Errors of typed calls as they cross a link: plain records with their data, and errors again. */
import { BusbarError, errorTable, type ErrorCode, type ErrorRecord } from '../../contract/errors.ts'
import { fromWire } from '../../contract/host/failures.ts'
import type { ErrorSpec } from '../../contract/method.ts'

/** Without a stack: what a caller may know of it, and the service's log has the rest. */
export function toWire({ code, message, hint, service, data }: BusbarError<string>): ErrorRecord {
  return {
    // Of a declared error it is the contract's own.
    code: code as ErrorCode,
    message,
    ...(hint !== undefined && { hint }),
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data }),
  }
}

/** `errors`: those that the method declares. */
export function toError(
  record: ErrorRecord,
  service: string,
  errors: Readonly<Record<string, ErrorSpec>>,
): BusbarError<string> {
  const { code, message, data } = record
  if (Object.hasOwn(errorTable, code)) return new BusbarError(code, { ...record, service: record.service ?? service })
  const declared = fromWire({ code, message, data, status: 0 }, service, errors)
  return (
    declared ?? new BusbarError('INTERNAL', { message: `${message}, which its contract does not declare`, service })
  )
}
