import { BusbarError } from '../../contract/errors.ts'
import { socketError } from '../../mesh/http/errors.ts'
import type { ExchangeRequest } from '../../mesh/http/exchange.ts'

/** What a call fails with. Where undici has words for it, those: programs know how to handle them. */

export function callAborted(service: string): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `the call to service '${service}' was aborted`, service })
}

export function noFinalStatus(service: string, { method, path }: ExchangeRequest): BusbarError {
  return new BusbarError('ANSWER_MALFORMED', {
    message: `service '${service}' ended its answer to ${method} ${path} with a status below 200, which is never the last`,
    service,
  })
}

/** Status 101 to a request that did not ask for an upgrade. */
export function badUpgrade(): Error {
  return socketError('bad upgrade')
}

export function lengthMismatch(): Error {
  return Object.assign(new Error('Request body length does not match content-length header'), {
    name: 'RequestContentLengthMismatchError',
    code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  })
}
