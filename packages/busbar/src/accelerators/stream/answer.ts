import { BusbarError } from '../../contract/errors.ts'
import type { Answerer } from '../../mesh/links/link.ts'
import type { HttpMesh } from '../../mesh/mesh.ts'
import { reasonUnreachable, takesCalls } from '../../mesh/refusals.ts'
import { loopback } from '../../mesh/sockets/tcp-address.ts'
import type { ConnectionValue } from './call.ts'
import { FarEnd, left } from './far-end.ts'
import { openServerEnd } from './serve.ts'

/** Takes connections that come over a link: each is one to the instance's own server in this thread. */
export function answerConnections(mesh: HttpMesh): Answerer {
  return ({ service, hops, caller }, payload, _isWhole, channel) => {
    const endpoint = mesh.router.local(service)
    if (!takesCalls(endpoint) || !isConnectionValue(payload)) {
      const message = reasonUnreachable(mesh.router, service)
      channel.fail(new BusbarError('SERVICE_UNAVAILABLE', { message, service }).toRecord(), true)
      return {}
    }
    const [callerPort, port] = payload
    const { call } = channel
    const end = openServerEnd(endpoint, { local: loopback(port), remote: loopback(callerPort), hops, caller, call })
    const far = new FarEnd(end, channel, () => channel.fail(left.callee))
    channel.reply(null, false)
    end.joinTo(far)
    return far
  }
}

function isConnectionValue(value: unknown): value is ConnectionValue {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)
}
