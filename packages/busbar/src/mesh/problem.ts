import { STATUS_CODES } from 'node:http'
import { type BusbarError, type ErrorCode, errorTable } from '../contract/errors.ts'

/** What a caller is answered over HTTP in a service's place (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function problemOf(code: ErrorCode, detail: string, service: string, more: Problem['headers'] = {}): Problem {
  const { status } = errorTable[code]
  const statusText = STATUS_CODES[status]!
  const body = JSON.stringify({ type: 'about:blank', title: statusText, status, detail, code, service })
  const length = String(Buffer.byteLength(body))
  const headers = { 'content-type': 'application/problem+json', 'content-length': length, ...more }
  return { status, statusText, headers, body }
}

/** For a caller who was not let in: clients that know the header come again when it says. */
export function exhaustedProblem({ message, data }: BusbarError, service: string): Problem {
  const { retryAfter = 1 } = (data ?? {}) as { retryAfter?: number }
  return problemOf('RESOURCE_EXHAUSTED', message, service, { 'retry-after': String(retryAfter) })
}
