/** Statuses of answers: those of HTTP, and those of gRPC, which are smaller. */

/** By number: <https://grpc.github.io/grpc/core/md_doc_statuscodes.html>. */
const grpcNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
]

export function isSuccess(status: number | string): boolean {
  const code = Number(status)
  return code === 0 || (code >= 200 && code < 300)
}

/** `200`, `NOT_FOUND`. */
export function statusName(status: number | string): string {
  return grpcNames[Number(status)] ?? String(status)
}
