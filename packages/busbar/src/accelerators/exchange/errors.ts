/** Errors of calls. If undici has an error for the case, it is used: programs can handle it. */
import { BusbarError } from '../../contract/errors.ts'
import type { ExchangeHandler } from '../../mesh/http/exchange.ts'
import type { ProblemResponse } from '../../mesh/http/problem-response.ts'

export function callAborted(service: string): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `the call to service '${service}' was aborted`, service })
}

export function lengthMismatch(): Error {
  return Object.assign(new Error('Request body length does not match content-length header'), {
    name: 'RequestContentLengthMismatchError',
    code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  })
}

/** Delivers a problem as the response to a request that was not sent. */
export function respondWithProblem(
  { status, statusText, headers, body }: ProblemResponse,
  handler: ExchangeHandler,
): void {
  handler.onHead({ status, statusText, headers, rawHeaders: Object.entries(headers).flat() })
  handler.onData(body)
  handler.onEnd({})
}
