import { BusbarError } from '../../contract/errors.ts'
import type { LocalEndpoint } from '../endpoint.ts'
import type { Answerer, CallHead } from '../links/link.ts'
import type { HttpMesh } from '../mesh.ts'
import { reasonUnreachable, takesCalls } from '../refusals.ts'
import { openByBytes } from './by-bytes.ts'
import { maxForwardedHead, type ExchangeRequest } from './exchange.ts'
import { AnswerSender } from './answer-sender.ts'
import { RequestReceiver } from './request-receiver.ts'
import { fromLines, isRequestValue, malformed, type RequestValue } from './wire.ts'

/**
 * Answers requests that come over a link: each is made once more to the instance in this thread, so that whatever works
 * between two programs of one thread works between two workers.
 */
export function answerRequests(mesh: HttpMesh): Answerer {
  return (head, payload, ended, channel) => {
    const { service, hops } = head
    const endpoint = mesh.router.local(service)
    if (!takesCalls(endpoint) || !isRequestValue(payload)) {
      channel.fail(refusalOf(mesh, service, endpoint).toRecord(), true)
      return {}
    }
    const sender = new AnswerSender(service, channel)
    const request = requestOf(head, payload, ended)
    const scope = { service, hops }
    const exchange =
      mesh.exchanges?.open(endpoint, request, scope, sender) ?? openByBytes(mesh, endpoint, request, scope, sender)
    const receiver = new RequestReceiver(service, channel, exchange, sender)
    sender.serve(exchange, ended ? undefined : receiver)
    return receiver
  }
}

function refusalOf({ router }: HttpMesh, service: string, endpoint: LocalEndpoint | undefined): BusbarError {
  if (takesCalls(endpoint)) return malformed('the request', service)
  return new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
}

function requestOf({ method, caller }: CallHead, [path, lines, body]: RequestValue, ended: boolean): ExchangeRequest {
  // Only the gateway is no service.
  const maxAnswerHead = caller === undefined ? maxForwardedHead : undefined
  return { method, path, rawHeaders: fromLines(lines), body, streamed: !ended, maxAnswerHead }
}
