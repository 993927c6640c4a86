import { channel } from 'node:diagnostics_channel'
import type { Socket, SocketConstructorOpts } from 'node:net'
import type { Link } from '../../mesh/links/link.ts'
import type { Endpoint, RemoteEndpoint } from '../../mesh/routing/endpoint.ts'
import type { MeshContext, ConnectionOrigin } from '../../mesh/mesh-context.ts'
import { connectionRefused, acceptsCalls } from '../../mesh/routing/unreachable.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { RequestCounter } from '../../mesh/sockets/instance/request-counter.ts'
import { systemError } from '../../mesh/sockets/system-error.ts'
import { loopback, takePort } from '../../mesh/sockets/tcp-address.ts'
import { openOverLink } from './open-over-link.ts'
import { currentContext, type Enter } from './async-context.ts'
import { ConnectionEnd, type OppositeEnd } from './connection-end.ts'
import { MemorySocket } from './memory-socket.ts'
import { RequestEnd } from './requests/request-end.ts'
import { openServerEnd } from './server-end.ts'

const clientSockets = channel('net.client.socket')

/**
 * Opens a connection in memory. In a later turn of the event loop, the socket emits `'connect'` and
 * `'ready'`, or `'error'` if no instance serves.
 */
export function openInMemory(
  mesh: MeshContext,
  service: string,
  port: number,
  options: SocketConstructorOpts,
  origin: ConnectionOrigin,
): Socket {
  const socket = new MemorySocket(options)
  socket.opened()
  if (clientSockets.hasSubscribers) clientSockets.publish({ socket })
  const enter = currentContext()
  const end = new ConnectionEnd(socket, { local: loopback(takePort()), remote: loopback(port), enter })
  setImmediate(() => establish({ mesh, service, origin, end, enter }))
  return socket
}

interface Attempt {
  readonly mesh: MeshContext
  readonly service: string
  readonly origin: ConnectionOrigin
  readonly end: ConnectionEnd
  readonly enter: Enter
}

function establish(attempt: Attempt): void {
  const { mesh, service, end, origin } = attempt
  const { hops, caller, to } = origin
  if (end.socket.destroyed) return
  // Not earlier: an instance found a turn ago may be gone.
  const endpoint = to ?? mesh.router.find(service)
  if (endpoint !== undefined) origin.found?.(endpoint)
  if (endpoint?.at === 'link' && endpoint.host !== undefined && mesh.exchanges !== undefined)
    connectToHost(attempt, endpoint.link)
  else if (endpoint?.at === 'link') connectOverLink(attempt, endpoint)
  else if (endpoint?.at === 'here' && acceptsCalls(endpoint)) {
    const ends = { local: end.remote, remote: end.local }
    ConnectionEnd.join(
      end,
      openServerEnd(endpoint, {
        ...ends,
        hops,
        caller,
        worker: origin.worker ?? mesh.meter?.worker,
        transport: 'local',
      }),
    )
    end.socket.connected()
  } else refuse(attempt)
}

/**
 * Requests to another app travel as values, each to an instance of its own. A connection that turns
 * out to carry something else is opened then.
 */
function connectToHost(attempt: Attempt, link: Link): void {
  const { mesh, service, origin, end, enter } = attempt
  const find = (not?: Endpoint): Endpoint | undefined =>
    (not === undefined ? origin.to : undefined) ?? mesh.router.find(service, not && { not })
  const fail = (error?: Error): void => enter(() => refuse(attempt, error))
  const asBytes = (): OppositeEnd | undefined => {
    const endpoint = find()
    return endpoint?.at === 'link' ? connectOverLink(attempt, endpoint) : undefined
  }
  end.joinTo(new RequestEnd({ mesh, service, link, end, origin, find, asBytes, fail }))
  end.socket.connected()
}

function connectOverLink(attempt: Attempt, endpoint: RemoteEndpoint): OppositeEnd {
  const { mesh, end, enter, origin } = attempt
  return openOverLink(endpoint, end, {
    ...origin,
    worker: origin.worker ?? mesh.meter?.worker ?? noWorker,
    counter: RequestCounter.for(mesh, endpoint, origin),
    onConnected: () => {
      if (end.socket.connecting) enter(() => end.socket.connected())
    },
    onRefused: () => enter(() => refuse(attempt)),
    // A socket that is connecting does not read, and would not see the reset.
    onLost: () => {
      if (end.socket.connecting) enter(() => refuse(attempt, systemError('read', 'ECONNRESET')))
    },
  })
}

function refuse({ mesh, service, end }: Attempt, error?: Error): void {
  if (!end.socket.destroyed) end.socket.destroy(error ?? connectionRefused(mesh.router, service, end.remote.port))
}
