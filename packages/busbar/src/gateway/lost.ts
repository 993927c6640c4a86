import { isExhaustion } from '../shared/descriptors.ts'
import { BusbarError, type ErrorCode } from '../contract/errors.ts'
import type { Problem } from './problem.ts'

export const stopping: Problem = {
  code: 'SERVICE_UNAVAILABLE',
  detail: 'The gateway is stopping',
  headers: { 'retry-after': '1' },
}

export function hangUp(service: string | undefined, code: ErrorCode): Problem {
  return { code, detail: `Service "${service}" ended before it had answered`, more: { service } }
}

/** The service's own bytes are not shown: they may be anything. */
export function unreadable(service: string): Problem {
  return { code: 'ANSWER_MALFORMED', detail: `Service "${service}" answered with what is not HTTP`, more: { service } }
}

/**
 * What a client is told of it: that nobody serves, that somebody did until now, or that the answer
 * cannot be read.
 */
export function lossOf(error: Error): { status: number; code: ErrorCode } {
  if (BusbarError.is(error) && (error.status === 502 || error.status === 503)) return error
  const { code = '' } = error as NodeJS.ErrnoException
  if (code.startsWith('HPE_')) return { status: 502, code: 'ANSWER_MALFORMED' }
  return code === 'ECONNREFUSED' || isExhaustion(error)
    ? { status: 503, code: 'SERVICE_UNAVAILABLE' }
    : { status: 502, code: 'SERVICE_HANGUP' }
}
