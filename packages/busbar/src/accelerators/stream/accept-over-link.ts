import { BusbarError } from '../../contract/errors.ts'
import { type CallHandler, closedBy } from '../../mesh/links/link.ts'
import type { MeshContext } from '../../mesh/mesh-context.ts'
import { reasonUnreachable, acceptsCalls } from '../../mesh/routing/unreachable.ts'
import { loopback } from '../../mesh/sockets/tcp-address.ts'
import { isTransport } from '../../shared/metrics/edge-table.ts'
import type { ConnectionValue } from './open-over-link.ts'
import { LinkEnd } from './link-end.ts'
import { openServerEnd } from './server-end.ts'

/** Accepts connections over a link, for the servers of instances in this thread. */
export function acceptConnections(mesh: MeshContext): CallHandler {
  return ({ service, hops, caller }, payload, _isWhole, channel) => {
    const endpoint = mesh.router.local(service)
    if (!acceptsCalls(endpoint) || !isConnectionValue(payload)) {
      const message = reasonUnreachable(mesh.router, service)
      channel.fail(new BusbarError('SERVICE_UNAVAILABLE', { message, service }).toRecord(), true)
      return {}
    }
    const [callerPort, port, transport = 'thread', worker] = payload
    const { call } = channel
    const [local, remote] = [loopback(port), loopback(callerPort)]
    const end = openServerEnd(endpoint, { local, remote, hops, caller, worker, call, transport })
    const linkEnd = new LinkEnd(end, channel, () => channel.fail(closedBy.callee))
    channel.reply(null, false)
    end.joinTo(linkEnd)
    return linkEnd
  }
}

function isConnectionValue(value: unknown): value is ConnectionValue {
  if (!Array.isArray(value)) return false
  const [callerPort, port, transport, worker = 0] = value as unknown[]
  const numbers = [callerPort, port, worker]
  return numbers.every((one) => Number.isInteger(one)) && (transport === undefined || isTransport(transport))
}
