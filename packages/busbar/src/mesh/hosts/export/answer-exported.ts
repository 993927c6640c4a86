import { BusbarError, type ErrorCode } from '../../../contract/errors.ts'
import { answerAtPort } from '../../http/answer-requests.ts'
import type { CallHandler, CallHead, Channel, ChannelHandler } from '../../links/link.ts'
import type { MeshContext } from '../../mesh-context.ts'
import type { RemoteEndpoint } from '../../routing/endpoint.ts'
import { reasonUnreachable } from '../../routing/unreachable.ts'
import { openConnection } from '../../sockets/connect.ts'
import { PipedConnection } from '../piped-connection.ts'
import { ForwardedCall } from './forwarded-call.ts'

export interface ExportedCallsParts {
  readonly mesh: MeshContext
  /** Answers calls by the instances of this thread. */
  readonly answer: CallHandler
  /** Whether the peer may call the service. */
  readonly allows: (service: string) => boolean
  /** The peer, for messages. */
  readonly peer: string
}

/**
 * Answers the calls of another app with any instance that serves. The caller that the peer names is
 * ignored: its services have no names here. What it sends is always validated.
 */
export function answerExported({ mesh, answer, allows, peer }: ExportedCallsParts): CallHandler {
  const { router } = mesh
  // A link repeats a head of many calls.
  let last: CallHead | undefined
  let own: CallHead | undefined
  return (claimed, payload, ended, channel) => {
    const { service, kind } = claimed
    if (own === undefined || claimed !== last) {
      if (!allows(service)) return refuse(channel, 'FORBIDDEN', `${peer} may not call service '${service}'`, service)
      own = headOfStranger(claimed)
      last = claimed
    }
    const head = own
    if (kind === 'bytes') return answerConnection(mesh, head, payload, channel)
    const { key } = head
    const endpoint = router.find(service, key === undefined ? undefined : { key })
    if (endpoint === undefined)
      return refuse(channel, 'SERVICE_UNAVAILABLE', reasonUnreachable(router, service), service)
    if (endpoint.at === 'here') return answer(head, payload, ended, channel)
    if (endpoint.at === 'link') {
      const findOther = (not: RemoteEndpoint): RemoteEndpoint | undefined => {
        const other = router.find(service, { not, key })
        return other?.at === 'link' ? other : undefined
      }
      return new ForwardedCall({ head, payload, ended, channel, endpoint, findOther })
    }
    if (kind === 'http') return answerAtPort(mesh, endpoint)(head, payload, ended, channel)
    const message = `service '${service}' has a port of its own, and no typed methods for other apps`
    return refuse(channel, 'SERVICE_UNAVAILABLE', message, service)
  }
}

/**
 * The head that another app has sent, as calls within this app have one. All fields at once: a
 * spread takes longer than all other steps here.
 */
function headOfStranger(claimed: CallHead): CallHead {
  const { service, kind, method, hops, mayCancel, timeLeft, trace, metadata, contract, key } = claimed
  return {
    service,
    kind,
    method,
    hops,
    caller: undefined,
    mayCancel,
    timeLeft,
    trace,
    metadata,
    isForeign: true,
    contract,
    key,
    delivery: undefined,
  }
}

function refuse(channel: Channel, code: ErrorCode, message: string, service: string): ChannelHandler {
  channel.fail(new BusbarError(code, { message, service }).toRecord(), true)
  return {}
}

/** Connects to an instance like a client within this app. */
function answerConnection(
  mesh: MeshContext,
  { service, hops }: CallHead,
  payload: unknown,
  channel: Channel,
): ChannelHandler {
  const port = Array.isArray(payload) && Number.isInteger(payload[1]) ? (payload[1] as number) : 80
  if (!mesh.router.serves(service))
    return refuse(channel, 'SERVICE_UNAVAILABLE', reasonUnreachable(mesh.router, service), service)
  const socket = openConnection(mesh, service, port, { allowHalfOpen: true }, { hops, caller: undefined })
  const connection = new PipedConnection(socket, 'callee')
  let isConnected = false
  socket.once('connect', () => {
    isConnected = true
    channel.reply(null, false)
  })
  socket.once('error', ({ message }) => {
    if (!isConnected) refuse(channel, 'SERVICE_UNAVAILABLE', message, service)
  })
  connection.start(channel)
  return connection
}
