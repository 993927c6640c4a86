/** Which lost calls may be retried, and what the error says if one was not. */
import type { ErrorCode } from '../../contract/errors.ts'

const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Idempotent methods (RFC 9110, 9.2.2). */
export function isIdempotent(method: string): boolean {
  return idempotent.has(method)
}

/** The codes of calls that never reached a program. */
export const undeliveredCodes: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'LINK_LOST', 'WORKER_DIED'])

const lost: ReadonlySet<string> = new Set<ErrorCode>(['LINK_LOST', 'WORKER_DIED'])

/**
 * Why a lost call was not retried, or that its retry failed too. `none`: nothing to explain.
 * `queued`: the queue decides about its next attempt.
 */
export type RetryOutcome = 'none' | 'unsafe' | 'queued' | 'no-instance' | 'retried'

const explanations: Readonly<Record<RetryOutcome, string>> = {
  none: '',
  unsafe: '; it may have been carried out, and is not retried because it is not idempotent',
  queued: '; it may have been carried out',
  'no-instance': '; it is idempotent, but no other instance is left to retry it on',
  retried: '; it was the second try',
}

/** Adds the retry outcome to a lost call's error message. */
export function withRetryOutcome<Failure extends { readonly code: string; readonly message: string }>(
  failure: Failure,
  outcome: RetryOutcome,
): Failure {
  return lost.has(failure.code) ? { ...failure, message: failure.message + explanations[outcome] } : failure
}
