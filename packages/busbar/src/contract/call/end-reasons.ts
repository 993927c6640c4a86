/** Why a call ends before its answer. */
import { BusbarError } from '../errors.ts'

/** For messages. */
interface Named {
  readonly service: string
  readonly method: string
}

export function abortedBy(call: Named): BusbarError {
  const message = `the caller of ${nameOf(call)} cancelled the call`
  return new BusbarError('CALL_ABORTED', { message, service: call.service })
}

export function expired(call: Named): BusbarError {
  const message = `${nameOf(call)} did not answer in time`
  return new BusbarError('DEADLINE_EXCEEDED', { message, service: call.service })
}

/** The parent's reason, with the name of the call that it ends. */
export function childReason(child: Named, { code, message }: BusbarError): BusbarError {
  return new BusbarError(code, { message: `${nameOf(child)}: ${message}`, service: child.service })
}

export function nameOf({ service, method }: Named): string {
  return `${service}.${method}`
}
