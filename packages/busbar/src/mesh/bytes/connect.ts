import { channel } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { LocalEndpoint } from '../endpoint.ts'
import { nextHops } from '../hops.ts'
import type { HttpMesh } from '../mesh.ts'
import { connectionRefused } from '../refusals.ts'
import { runInScope, type Scope } from '../scope.ts'
import { acceptSocket, interceptRequests } from './accept.ts'
import { currentContext, End } from './end.ts'
import { answerHopLimit, takeHops } from './hops.ts'
import { internals, type SocketAddress, type SocketInternals } from './socket.ts'

const clientSockets = channel('net.client.socket')

/** Where the system's own ephemeral ports begin and end; each connection has one of its own in logs. */
const firstPort = 49_152
const lastPort = 65_535
let nextPort = firstPort

/**
 * Connects a client's socket to a service, as `connect` would: it is `connecting` until the next turn of the event
 * loop, then emits `'connect'` and `'ready'`, or `'error'` when no instance serves.
 */
export function connectToService(mesh: HttpMesh, service: string, port: number, client: Socket): void {
  const socket = internals(client)
  if (clientSockets.hasSubscribers) clientSockets.publish({ socket })
  if (socket.destroyed) socket._undestroy()
  socket.connecting = true
  const local = loopback(takePort())
  const remote = loopback(port)
  const end = new End(socket, { local, remote, enter: currentContext() })
  // Of whatever sends no number with its requests, such as a client that writes HTTP by itself.
  const hops = nextHops()
  setImmediate(() => establish({ mesh, service, hops, socket, end }))
}

interface MutableScope extends Scope {
  hops: number
}

interface Attempt {
  readonly mesh: HttpMesh
  readonly service: string
  readonly hops: number
  readonly socket: SocketInternals
  readonly end: End
}

function establish(attempt: Attempt): void {
  const { mesh, service, socket, end } = attempt
  if (socket.destroyed) return
  const endpoint = mesh.router.find(service)
  if (endpoint?.at !== 'here') {
    socket.destroy(connectionRefused(mesh.router, service, end.remote.port))
    return
  }
  End.join(end, openServerEnd(attempt, endpoint))
  socket.connecting = false
  socket.emit('connect')
  socket.emit('ready')
  if (socket.readable && !socket.isPaused()) socket.read(0)
}

/**
 * The program sees the connection when its first bytes come: an HTTP server never speaks first, and one that was opened
 * ahead of need would keep a server from closing that waits for its connections to become idle.
 */
function openServerEnd(attempt: Attempt, endpoint: LocalEndpoint): End {
  const { server } = endpoint
  const highWaterMark = (server as { highWaterMark?: number }).highWaterMark
  const socket = new Socket({
    allowHalfOpen: true,
    ...(highWaterMark !== undefined && { readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark }),
  })
  // The connection's own scope: what its requests' bodies and an upgrade's messages cause counts like the last request.
  const scope: MutableScope = { service: endpoint.service, hops: attempt.hops }
  const { local, remote } = attempt.end
  return new End(socket, {
    local: remote,
    remote: local,
    enter: endpoint.enter(scope, currentContext),
    onFirstBytes: () => acceptAtEndpoint(attempt.mesh, endpoint, scope, socket),
  })
}

function acceptAtEndpoint(mesh: HttpMesh, endpoint: LocalEndpoint, scope: MutableScope, socket: Socket): void {
  if (endpoint.state === 'stopped') {
    socket.destroy()
    return
  }
  acceptSocket(endpoint.server, socket)
  interceptRequests(socket, (request, next) => {
    const hops = takeHops(request) ?? scope.hops
    scope.hops = hops
    if (hops > mesh.maxHops) {
      answerHopLimit(mesh, endpoint.service, request, socket)
      return 0
    }
    const result = runInScope({ service: endpoint.service, hops }, next)
    closeBehindAnswer(endpoint, socket)
    return result
  })
}

/** A server that closes while it answers would wait for as long as the caller keeps the connection for a next request. */
function closeBehindAnswer(endpoint: LocalEndpoint, socket: Socket): void {
  const connection = socket as Socket & { _httpMessage?: ServerResponse | null }
  connection._httpMessage?.once('close', () => {
    if (!endpoint.server.listening && !connection._httpMessage) socket.destroySoon()
  })
}

function loopback(port: number): SocketAddress {
  return { address: '127.0.0.1', family: 'IPv4', port }
}

function takePort(): number {
  const port = nextPort
  nextPort = port === lastPort ? firstPort : port + 1
  return port
}
