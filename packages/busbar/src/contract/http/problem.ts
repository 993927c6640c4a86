import { BusbarError, type ErrorCode, errorTable } from '../errors.ts'
import { fromWire } from '../host/failures.ts'
import type { ErrorSpec } from '../method.ts'
import { fromTagged } from '../value/decode.ts'
import { toTaggedFor, type JsonDialect } from '../value/encode.ts'

export const problemType = 'application/problem+json'

/** An error as a problem of RFC 9457. Stack and cause never leave the service. */
export interface ProblemBody {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly service?: string
  readonly data?: unknown
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

export function titleOf(status: number): string {
  return titles[status] ?? 'Error'
}

export function toProblem(
  { code, message, status, service, data }: BusbarError<string>,
  dialect: JsonDialect,
): ProblemBody {
  return {
    type: 'about:blank',
    title: titleOf(status),
    status,
    detail: message,
    code,
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data: toTaggedFor(dialect, data) }),
  }
}

/** Headers that belong to a status: retry-after, the authentication scheme, the supported types. */
export function problemHeaders({ code, data }: BusbarError<string>): Record<string, string> {
  if (code === 'UNAUTHENTICATED') return { 'www-authenticate': 'Bearer' }
  // RFC 9110, 15.5.16: either header may have been the cause.
  if (code === 'MEDIA_TYPE_UNSUPPORTED') return { accept: 'application/json', 'accept-encoding': 'identity' }
  if (code === 'METHOD_NOT_ALLOWED') return { allow: (data as { allow: readonly string[] }).allow.join(', ') }
  if (code !== 'RESOURCE_EXHAUSTED' && code !== 'SERVICE_UNAVAILABLE') return {}
  const { retryAfter } = (data ?? {}) as { retryAfter?: unknown }
  return { 'retry-after': typeof retryAfter === 'number' ? String(retryAfter) : '1' }
}

/**
 * Restores the error, with the same class and code. Undefined if the body is not one of our
 * problems.
 */
export function fromProblem(
  body: unknown,
  service: string,
  errors: Readonly<Record<string, ErrorSpec>>,
): BusbarError<string> | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { code, detail, status, data } = body as Partial<ProblemBody>
  if (typeof code !== 'string' || typeof detail !== 'string') return undefined
  const wire = { code, message: detail, status: status ?? 500, data: data === undefined ? undefined : fromTagged(data) }
  return fromWire(wire, service, errors)
}

/**
 * The error for a status whose body is not one of our problems: a proxy in between has answered.
 */
export function fromStatus(status: number, service: string, url: string): BusbarError {
  const code = codes[status] ?? 'ANSWER_MALFORMED'
  const message = `${url} answered ${status} without the error body of a typed service`
  return new BusbarError(code, { message, service })
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  [errorTable.BODY_TOO_LARGE.status]: 'BODY_TOO_LARGE',
  502: 'SERVICE_HANGUP',
  503: 'SERVICE_UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
