import { channel } from 'node:diagnostics_channel'
import type { Socket, SocketConstructorOpts } from 'node:net'
import type { RemoteEndpoint } from '../../mesh/routing/endpoint.ts'
import type { MeshContext, ConnectionOrigin } from '../../mesh/mesh-context.ts'
import { connectionRefused, acceptsCalls } from '../../mesh/routing/unreachable.ts'
import { loopback, takePort } from '../../mesh/sockets/tcp-address.ts'
import { openOverLink } from './open-over-link.ts'
import { currentContext, type Enter } from './async-context.ts'
import { ConnectionEnd } from './connection-end.ts'
import { MemorySocket } from './memory-socket.ts'
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
  if (endpoint?.at === 'link') connectOverLink(attempt, endpoint)
  else if (endpoint?.at === 'here' && acceptsCalls(endpoint)) {
    const ends = { local: end.remote, remote: end.local }
    ConnectionEnd.join(end, openServerEnd(endpoint, { ...ends, hops, caller, transport: 'local' }))
    end.socket.connected()
  } else refuse(attempt)
}

function connectOverLink(attempt: Attempt, endpoint: RemoteEndpoint): void {
  const { end, enter, origin } = attempt
  openOverLink(endpoint, end, {
    ...origin,
    onConnected: () => enter(() => end.socket.connected()),
    onRefused: () => enter(() => refuse(attempt)),
  })
}

function refuse({ mesh, service, end }: Attempt): void {
  if (!end.socket.destroyed) end.socket.destroy(connectionRefused(mesh.router, service, end.remote.port))
}
