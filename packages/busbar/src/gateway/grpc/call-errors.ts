/** What a call ends with when its messages, its method or its result are wrong. */
import { BusbarError, type ErrorCode } from '../../contract/errors.ts'
import { FramingError } from '../../contract/grpc/framing.ts'
import { toInputInvalid } from '../../contract/host/failures.ts'
import { MalformedMessage } from '../../contract/protobuf/well-known.ts'
import { SerialisationError } from '../../contract/value/serialisable.ts'
import type { GrpcMethod } from './grpc-method.ts'

/** gRPC has the status UNIMPLEMENTED for it (doc/statuscodes.md). */
export function cardinality({ service, method }: GrpcMethod, got: string): BusbarError {
  return new BusbarError('METHOD_UNKNOWN', {
    message: `${service}.${method} expects exactly one message, and got ${got}`,
    service,
    data: { nearest: [] },
  })
}

export function leftEarly({ service }: GrpcMethod): BusbarError {
  return new BusbarError('CALL_ABORTED', {
    message: 'the client cancelled the call before its message was complete',
    service,
  })
}

export function toError(error: unknown, { service, method }: GrpcMethod): BusbarError {
  if (BusbarError.is(error)) return error
  const parts = (what: string): { message: string; service: string } => ({
    message: `${service}.${method}: ${what}`,
    service,
  })
  if (error instanceof FramingError) {
    const code: ErrorCode = error.reason === 'too-large' ? 'BODY_TOO_LARGE' : 'REQUEST_MALFORMED'
    return new BusbarError(code, parts(error.message))
  }
  if (error instanceof MalformedMessage)
    return new BusbarError('REQUEST_MALFORMED', parts(`the message cannot be read: ${error.message}`))
  return BusbarError.from(toInputInvalid({ service, method }, error))
}

/** Declared codes are not in the error table, so `BusbarError.from` does not know them. */
export function toCallError(error: unknown): BusbarError<string> {
  const isOurs = error instanceof Error && error.name === 'BusbarError'
  return isOurs ? (error as BusbarError<string>) : BusbarError.from(error)
}

/** A result that its message cannot hold is a fault of the service. */
export function toAnswerError(error: unknown, { service, method }: GrpcMethod): BusbarError<string> {
  if (!(error instanceof SerialisationError)) return toCallError(error)
  const message = `${service}.${method} answered with ${error.path.join('.') || 'a value'} that its message cannot hold: ${error.message}`
  return new BusbarError('ANSWER_MALFORMED', { message, service })
}
