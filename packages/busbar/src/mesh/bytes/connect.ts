import { channel } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { LocalEndpoint, RemoteEndpoint } from '../endpoint.ts'
import { nextHops } from '../hops.ts'
import type { HttpMesh } from '../mesh.ts'
import { connectionRefused } from '../refusals.ts'
import { isChosen } from '../../shared/accelerators.ts'
import { connectBySocket, type Origin } from '../sockets/connect.ts'
import { takePort } from '../sockets/tcp-address.ts'
import { currentScope } from '../scope.ts'
import { currentContext, End, type Enter } from './end.ts'
import { openFarEnd } from './call.ts'
import { openServerEnd } from './serve.ts'
import { internals, loopback, release, type SocketInternals } from './socket.ts'

const clientSockets = channel('net.client.socket')

/**
 * Connects a client's socket to a service, as `connect` would: it is `connecting` until a later turn of the event loop,
 * then emits `'connect'` and `'ready'`, or `'error'` when no instance serves.
 */
export function connectToService(
  mesh: HttpMesh,
  service: string,
  port: number,
  client: Socket,
  { hops, caller, to }: Origin = { hops: nextHops(), caller: currentScope()?.service },
): void {
  if (!isChosen('stream')) return connectBySocket(mesh, service, port, client, { hops, caller, to })
  // Each search counts as a call to what it finds; the one for an instance in a worker is in `establish`.
  const endpoint = mesh.router.isCommand(service) ? mesh.router.find(service) : undefined
  // A command has a port of its own: from here on the connection is the system's.
  if (endpoint?.at === 'tcp') {
    release(client)
    client.connect({ host: endpoint.host, port: endpoint.port })
    return
  }
  const socket = internals(client)
  if (clientSockets.hasSubscribers) clientSockets.publish({ socket })
  if (socket.destroyed) socket._undestroy()
  socket.connecting = true
  const enter = currentContext()
  const end = new End(socket, { local: loopback(takePort()), remote: loopback(port), enter })
  // The hops are those of whatever sends no number with its requests, such as a client that writes HTTP by itself.
  const attempt: Attempt = { mesh, service, hops, caller, socket, end, enter }
  setImmediate(() => establish(attempt))
}

/** A connection to an instance in this thread, as a call that `hops` led to. Nobody hears of it but that instance. */
export function connectHere(mesh: HttpMesh, endpoint: LocalEndpoint, hops: number): Socket {
  const socket = internals(new Socket())
  socket.connecting = true
  const end = new End(socket, { local: loopback(takePort()), remote: loopback(80), enter: currentContext() })
  setImmediate(() => {
    if (socket.destroyed) return
    End.join(end, openServerEnd(mesh, endpoint, { local: end.remote, remote: end.local, hops }))
    connected(socket)
  })
  return socket
}

interface Attempt {
  readonly mesh: HttpMesh
  readonly service: string
  readonly hops: number
  readonly caller: string | undefined
  readonly socket: SocketInternals
  readonly end: End
  readonly enter: Enter
}

function establish(attempt: Attempt): void {
  const { mesh, service, socket, end, hops, caller: from } = attempt
  if (socket.destroyed) return
  // Anew: the instance that there was a turn ago may have gone.
  const endpoint = mesh.router.find(service)
  if (endpoint?.at === 'here') {
    End.join(end, openServerEnd(mesh, endpoint, { local: end.remote, remote: end.local, hops, from }))
    connected(socket)
  } else if (endpoint?.at === 'link') establishFar(attempt, endpoint)
  else refuse(attempt)
}

function establishFar(attempt: Attempt, endpoint: RemoteEndpoint): void {
  const { end, enter, socket, hops, caller } = attempt
  openFarEnd(endpoint, end, {
    hops,
    caller,
    onConnected: () => enter(() => connected(socket)),
    onRefused: () => enter(() => socket.destroyed || refuse(attempt)),
  })
}

function connected(socket: SocketInternals): void {
  if (socket.destroyed) return
  socket.connecting = false
  socket.emit('connect')
  socket.emit('ready')
  if (socket.readable && !socket.isPaused()) socket.read(0)
}

function refuse({ mesh, service, socket, end }: Attempt): void {
  socket.destroy(connectionRefused(mesh.router, service, end.remote.port))
}
