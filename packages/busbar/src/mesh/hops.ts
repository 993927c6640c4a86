/**
 * A chain of calls that never ends is stopped by counting: each call says how many led to it. Over a byte stream the
 * number travels as a header, which is believed only on connections that this mesh made itself and is taken out before
 * the program looks.
 */
import { STATUS_CODES } from 'node:http'
import { errorTable } from '../contract/errors.ts'
import { currentScope } from './scope.ts'

export const hopsHeader = 'busbar-hops'

/** Of a call that starts here and now. */
export function nextHops(): number {
  return (currentScope()?.hops ?? 0) + 1
}

export interface Problem {
  readonly status: number
  readonly statusText: string
  readonly contentType: 'application/problem+json'
  readonly body: string
}

/** What the caller is told whose call would be one too many (RFC 9457). */
export function hopLimitProblem(service: string, maxHops: number): Problem {
  const { status } = errorTable.HOP_LIMIT
  const statusText = STATUS_CODES[status]!
  const detail = `the call to service ${service} is number ${maxHops + 1} of a chain in which each caused the next; ${maxHops} are allowed`
  const body = JSON.stringify({ type: 'about:blank', title: statusText, status, detail, code: 'HOP_LIMIT', service })
  return { status, statusText, contentType: 'application/problem+json', body }
}
