/** What is told of a call whose instance was lost: whether it was made again, and why not. */
import type { ErrorCode } from '../contract/errors.ts'

const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Twice is as good as once (RFC 9110, 9.2.2). */
export function isIdempotent(method: string): boolean {
  return idempotent.has(method)
}

/** With these an instance that was never reached says so, or the link to it. */
export const unreached: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'LINK_LOST', 'WORKER_DIED'])

const lost: ReadonlySet<string> = new Set<ErrorCode>(['LINK_LOST', 'WORKER_DIED'])

export type Repeat = 'none' | 'unsafe' | 'nowhere' | 'done'

const words: Readonly<Record<Repeat, string>> = {
  none: '',
  unsafe: '; it may have been carried out, and is not made again since it is not idempotent',
  nowhere: '; it is idempotent, and there is nobody else to ask',
  done: '; it was the second try',
}

/** The failure of a call, with what became of it beside. */
export function withRepeat<Failure extends { readonly code: string; readonly message: string }>(
  failure: Failure,
  repeat: Repeat,
): Failure {
  return lost.has(failure.code) ? { ...failure, message: failure.message + words[repeat] } : failure
}
