import { channel } from 'node:diagnostics_channel'
import type { LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'
import type { CallId } from '../../shared/calls/call-id.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import { currentContext } from './async-context.ts'
import { ConnectionEnd } from './connection-end.ts'
import { MemorySocket } from './memory-socket.ts'

/** Node publishes each connection of a server on it. */
const serverSockets = channel('net.server.socket')

/** A connection to a service: its addresses, and the calls that led to it. */
export interface Incoming {
  readonly local: TcpAddress
  readonly remote: TcpAddress
  readonly hops: number
  /** The calling service. Undefined if unknown, or if the caller measures its latencies itself. */
  readonly caller: string | undefined
  /** Its worker, as an edge counts it. Undefined if unknown. */
  readonly worker?: number | undefined
  /** The id of the call, if the caller is in another worker. */
  readonly call?: CallId
  readonly transport: Transport
}

/**
 * Opens the service's end of a connection. The program gets the connection when its first bytes
 * arrive. An HTTP server never sends first, and a connection opened in advance would keep a server
 * from closing that waits for its connections to become idle.
 */
export function openServerEnd(endpoint: LocalEndpoint, incoming: Incoming): ConnectionEnd {
  const { local, remote, hops, caller, worker, call, transport } = incoming
  const { server, listener, service } = endpoint
  const { highWaterMark: mark } = server as { highWaterMark?: number }
  const options = { allowHalfOpen: true, readableHighWaterMark: mark, writableHighWaterMark: mark }
  const socket = new MemorySocket(options)
  socket.accepted('closeIdleConnections' in server)
  const end: ConnectionEnd = new ConnectionEnd(socket, {
    local,
    remote,
    enter: endpoint.enter({ service, hops }, currentContext),
    onFirstBytes() {
      if (endpoint.state === 'stopped') return void socket.destroy()
      socket.read(0)
      const isGone = (): boolean => end.isOppositeGone
      const ports = { callerPort: remote.port, port: local.port }
      listener!.acceptFromMesh(socket, { hops, caller, worker, call, transport, isGone, ...ports })
      if (serverSockets.hasSubscribers && !socket.destroyed) serverSockets.publish({ socket })
    },
  })
  return end
}
