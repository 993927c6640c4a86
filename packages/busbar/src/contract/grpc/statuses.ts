import type { ErrorCode } from '../errors.ts'

/** The statuses of gRPC (github.com/grpc/grpc, doc/statuscodes.md). */
export const grpcStatus = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const

export type GrpcStatusName = keyof typeof grpcStatus

/** The status of each error that a call can end with. Every other code is INTERNAL. */
export const statusOfCode: Readonly<Partial<Record<ErrorCode, GrpcStatusName>>> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  FORBIDDEN: 'PERMISSION_DENIED',
  CLIENT_CERTIFICATE_MISSING: 'PERMISSION_DENIED',
  SERVICE_UNKNOWN: 'UNIMPLEMENTED',
  METHOD_UNKNOWN: 'UNIMPLEMENTED',
  METHOD_NOT_ALLOWED: 'UNIMPLEMENTED',
  ROUTE_NOT_FOUND: 'UNIMPLEMENTED',
  MEDIA_TYPE_UNSUPPORTED: 'UNIMPLEMENTED',
  INPUT_INVALID: 'INVALID_ARGUMENT',
  REQUEST_MALFORMED: 'INTERNAL',
  ANSWER_MALFORMED: 'INTERNAL',
  BODY_TOO_LARGE: 'RESOURCE_EXHAUSTED',
  HEADERS_TOO_LARGE: 'RESOURCE_EXHAUSTED',
  RESOURCE_EXHAUSTED: 'RESOURCE_EXHAUSTED',
  DEADLINE_EXCEEDED: 'DEADLINE_EXCEEDED',
  REQUEST_TIMEOUT: 'DEADLINE_EXCEEDED',
  RESPONSE_TIMEOUT: 'DEADLINE_EXCEEDED',
  CALL_ABORTED: 'CANCELLED',
  SERVICE_UNAVAILABLE: 'UNAVAILABLE',
  SERVICE_HANGUP: 'UNAVAILABLE',
  WORKER_DIED: 'UNAVAILABLE',
  LINK_LOST: 'UNAVAILABLE',
  QUEUE_UNAVAILABLE: 'UNAVAILABLE',
  QUEUE_FULL: 'RESOURCE_EXHAUSTED',
  HOP_LIMIT: 'FAILED_PRECONDITION',
  INTERNAL: 'INTERNAL',
}

/** The status of an error that a contract declares, by its HTTP status. */
export const statusOfDeclared: Readonly<Record<number, GrpcStatusName>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  410: 'NOT_FOUND',
  412: 'FAILED_PRECONDITION',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
}

export function toGrpcStatus(error: { code: string; status: number; declared: boolean }): number {
  if (error.declared) return grpcStatus[statusOfDeclared[error.status] ?? 'FAILED_PRECONDITION']
  return grpcStatus[statusOfCode[error.code as ErrorCode] ?? 'INTERNAL']
}

/** The code for a status of a service elsewhere that sends no details of Busbar. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  [grpcStatus.CANCELLED]: 'CALL_ABORTED',
  [grpcStatus.INVALID_ARGUMENT]: 'INPUT_INVALID',
  [grpcStatus.DEADLINE_EXCEEDED]: 'DEADLINE_EXCEEDED',
  [grpcStatus.PERMISSION_DENIED]: 'FORBIDDEN',
  [grpcStatus.RESOURCE_EXHAUSTED]: 'RESOURCE_EXHAUSTED',
  [grpcStatus.UNIMPLEMENTED]: 'METHOD_UNKNOWN',
  [grpcStatus.UNAVAILABLE]: 'SERVICE_UNAVAILABLE',
  [grpcStatus.UNAUTHENTICATED]: 'UNAUTHENTICATED',
}

export function toErrorCode(status: number): ErrorCode {
  return codeOfStatus[status] ?? 'INTERNAL'
}

export function grpcStatusName(status: number): string {
  const found = Object.entries(grpcStatus).find(([, number]) => number === status)
  return found?.[0] ?? String(status)
}

/** Values of `grpc-message` are percent-encoded UTF-8; printable ASCII stays as it is. */
export function encodeMessage(message: string): string {
  if (/^[ -$&-~]*$/.test(message)) return message
  let text = ''
  for (const byte of new TextEncoder().encode(message))
    text +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return text
}

/** What cannot be decoded stays as it is. */
export function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
