/** The errors of a link and of its calls. */
import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import { inputInvalid } from '../../contract/host/failures.ts'
import { SerialisationError } from '../../contract/value/serialisable.ts'
import { checkForOtherApp, encodeValue, type EncodedValue, TooMuchForOtherApp } from './frames/encoded-value.ts'
import { plainRecord } from './frames/frame-encoder.ts'
import type { CallHead } from './link.ts'

/**
 * The link's error, as the error of a call that the peer may have begun. Callers may repeat what is
 * unavailable, so this is lost. `name`: the call, for the message.
 */
export function callFailure(
  { name, head }: { readonly name: string; readonly head: CallHead },
  peer: string,
  { code, message, hint }: ErrorRecord,
): ErrorRecord {
  const failure: ErrorRecord = {
    code: code === 'SERVICE_UNAVAILABLE' ? 'LINK_LOST' : code,
    message: `${name}, which ${peer} was answering: ${message}`,
    service: head.service,
  }
  return hint === undefined ? failure : { ...failure, hint }
}

/** `what`: a predicate, such as `has closed the link`. */
export function linkLost(peer: string, what: string, service?: string): ErrorRecord {
  const record: ErrorRecord = { code: 'LINK_LOST', message: `${peer} ${what}` }
  return service === undefined ? record : { ...record, service }
}

export function serviceStopping(service: string): ErrorRecord {
  return { code: 'SERVICE_UNAVAILABLE', message: `service '${service}' is stopping and accepts no new calls`, service }
}

export function tooManyCalls(peer: string, inFlight: number, service?: string): ErrorRecord {
  return linkFull(`the link to ${peer} has ${inFlight} calls in flight and accepts no more`, service)
}

/** For a call to a peer that is slow to read. */
export function tooMuchQueued(peer: string, bytes: number, service: string): ErrorRecord {
  const size = Math.round(bytes / 1024 ** 2)
  return linkFull(`${size} MiB wait on the link to ${peer}, which reads slowly, and it accepts no more calls`, service)
}

function linkFull(message: string, service: string | undefined): ErrorRecord {
  const record: ErrorRecord = { code: 'RESOURCE_EXHAUSTED', message, data: { retryAfter: 1 } }
  return service === undefined ? record : { ...record, service }
}

/** For a value of a call that is too much for its slow peer. `size`: of what waits. */
export function unreadByPeer(
  { name, head: { service } }: Omit<CallOfValue, 'id'>,
  peer: string,
  size: string,
): ErrorRecord {
  return {
    code: 'RESOURCE_EXHAUSTED',
    message: `a value of ${name} is not sent: ${size} wait for ${peer}, which has not read them`,
    hint: 'Make fewer calls with large values at once, or stream what is large.',
    service,
  }
}

/**
 * Leaves out `data` that cannot be encoded, so that the error arrives in any case. `isForeign`: for
 * another app.
 */
export function encodeErrorRecord(error: ErrorRecord, isForeign = false): EncodedValue {
  const plain = plainRecord(error)
  try {
    return encoded(plain, isForeign)
  } catch {
    delete plain.data
    return encodeValue(plain)
  }
}

/** The call that a value belongs to. `name`: for messages. */
interface CallOfValue {
  readonly name: string
  readonly head: CallHead
  /** Positive at the caller. */
  readonly id: number
}

/** For a value of the call that cannot be encoded. */
export function encodingFailure({ name, head, id }: CallOfValue, thrown: unknown): ErrorRecord {
  if (!(thrown instanceof SerialisationError)) return BusbarError.from(thrown).toRecord()
  // Only the link knows that the value is for another app.
  if (thrown instanceof TooMuchForOtherApp && id > 0 && (head.kind === 'call' || head.kind === 'stream'))
    return inputInvalid(head, [{ path: thrown.path, message: thrown.message }]).toRecord()
  const where = thrown.path.length === 0 ? '' : ` at ${thrown.path.join('.')}`
  return { code: 'INTERNAL', message: `a value of ${name} has${where} ${thrown.message}` }
}

/** A value of the call, or why it cannot be encoded. `isForeign`: for another app. */
export function encodedOrFailure(call: CallOfValue, value: unknown, isForeign: boolean): EncodedValue | ErrorRecord {
  try {
    return encoded(value, isForeign)
  } catch (error) {
    return encodingFailure(call, error)
  }
}

function encoded(value: unknown, isForeign: boolean): EncodedValue {
  const result = encodeValue(value)
  if (isForeign) checkForOtherApp(result)
  return result
}
