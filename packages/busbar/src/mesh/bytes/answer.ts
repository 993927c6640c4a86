import { BusbarError } from '../../contract/errors.ts'
import type { Answerer } from '../links/link.ts'
import type { HttpMesh } from '../mesh.ts'
import { reasonUnreachable, takesCalls } from '../refusals.ts'
import type { ConnectionValue } from './call.ts'
import type { Caller } from './gated.ts'
import { FarEnd, left } from './far-end.ts'
import { openServerEnd } from './serve.ts'
import { loopback } from './socket.ts'

/** Takes connections that come over a link: each is one to the instance's own server in this thread. */
export function answerConnections(mesh: HttpMesh): Answerer {
  return ({ service, hops, caller: from }, payload, _ended, channel) => {
    const endpoint = mesh.router.local(service)
    if (!takesCalls(endpoint) || !isConnectionValue(payload)) {
      const message = reasonUnreachable(mesh.router, service)
      channel.fail(new BusbarError('SERVICE_UNAVAILABLE', { message, service }).toRecord(), true)
      return {}
    }
    const [callerPort, port] = payload
    const [local, remote] = [loopback(port), loopback(callerPort)]
    const { call } = channel
    const caller: Caller = { call, isGone: () => far.gone }
    const end = openServerEnd(mesh, endpoint, { local, remote, hops, caller, from })
    const far: FarEnd = new FarEnd(end, channel, () => channel.fail(left.callee))
    channel.reply(null, false)
    end.joinTo(far)
    return far
  }
}

function isConnectionValue(value: unknown): value is ConnectionValue {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)
}
