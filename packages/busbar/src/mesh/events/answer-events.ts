import { BusbarError } from '../../contract/errors.ts'
import type { CallHandler } from '../links/link.ts'
import type { Router } from '../routing/router.ts'
import { reasonUnreachable } from '../routing/unreachable.ts'

/** Accepts events that arrive over a link, for the instance in this thread. */
export function answerEvents(router: Router): CallHandler {
  return ({ service, method: topic, caller, hops, trace, isForeign }, value, _isWhole, channel) => {
    const endpoint = router.local(service)
    const refuse = (error: BusbarError): void => channel.fail(error.toRecord(), true)
    if (isForeign === true)
      refuse(new BusbarError('FORBIDDEN', { message: 'another app sends events only through the cluster', service }))
    else if (endpoint?.state !== 'serving')
      refuse(new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service }))
    else if (endpoint.typed?.events?.accept(topic, value, { caller, hops, trace }) === true) channel.reply(true, true)
    else
      refuse(new BusbarError('RESOURCE_EXHAUSTED', { message: `${service} accepts no more events ${topic}`, service }))
    return {}
  }
}
