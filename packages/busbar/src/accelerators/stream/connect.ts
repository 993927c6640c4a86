import { channel } from 'node:diagnostics_channel'
import type { Socket, SocketConstructorOpts } from 'node:net'
import type { RemoteEndpoint } from '../../mesh/endpoint.ts'
import type { HttpMesh } from '../../mesh/mesh.ts'
import { connectionRefused, takesCalls } from '../../mesh/refusals.ts'
import type { Origin } from '../../mesh/sockets/connect.ts'
import { loopback, takePort } from '../../mesh/sockets/tcp-address.ts'
import { openFarEnd } from './call.ts'
import { currentContext, End, type Enter } from './end.ts'
import { MemorySocket } from './memory-socket.ts'
import { openServerEnd } from './serve.ts'

const clientSockets = channel('net.client.socket')

/**
 * The socket is connecting until a later turn of the event loop, then emits `'connect'` and `'ready'`, or `'error'` when no
 * instance serves.
 */
export function openInMemory(
  mesh: HttpMesh,
  service: string,
  port: number,
  options: SocketConstructorOpts,
  origin: Origin,
): Socket {
  const socket = new MemorySocket(options)
  if (clientSockets.hasSubscribers) clientSockets.publish({ socket })
  const enter = currentContext()
  const end = new End(socket, { local: loopback(takePort()), remote: loopback(port), enter })
  setImmediate(() => establish({ mesh, service, origin, end, enter }))
  return socket
}

interface Attempt {
  readonly mesh: HttpMesh
  readonly service: string
  readonly origin: Origin
  readonly end: End
  readonly enter: Enter
}

function establish(attempt: Attempt): void {
  const { mesh, service, end, origin } = attempt
  const { hops, caller, to } = origin
  if (end.socket.destroyed) return
  // Only now: the instance that there was a turn ago may have gone.
  const endpoint = to ?? mesh.router.find(service)
  if (endpoint?.at === 'link') establishFar(attempt, endpoint)
  else if (endpoint?.at === 'here' && takesCalls(endpoint)) {
    End.join(end, openServerEnd(endpoint, { local: end.remote, remote: end.local, hops, caller }))
    end.socket.connected()
  } else refuse(attempt)
}

function establishFar(attempt: Attempt, endpoint: RemoteEndpoint): void {
  const { end, enter, origin } = attempt
  openFarEnd(endpoint, end, {
    ...origin,
    onConnected: () => enter(() => end.socket.connected()),
    onRefused: () => enter(() => refuse(attempt)),
  })
}

function refuse({ mesh, service, end }: Attempt): void {
  if (!end.socket.destroyed) end.socket.destroy(connectionRefused(mesh.router, service, end.remote.port))
}
