import type { LocalEndpoint } from '../../mesh/endpoint.ts'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'
import type { CallId } from '../../shared/control.ts'
import { currentContext, End } from './end.ts'
import { MemorySocket } from './memory-socket.ts'

/** A connection as it comes to the service: where it leads, from where, and how many calls led to it. */
export interface Incoming {
  readonly local: TcpAddress
  readonly remote: TcpAddress
  readonly hops: number
  /** The service that calls; undefined where that is not known, or measures by itself how long its calls take. */
  readonly caller: string | undefined
  /** By which a caller in another worker knows it. */
  readonly call?: CallId
}

/**
 * The service's end of a connection. The program sees the connection when its first bytes come: an HTTP server never
 * speaks first, and one that was opened ahead of need would keep a server from closing that waits for its connections to
 * become idle.
 */
export function openServerEnd(endpoint: LocalEndpoint, { local, remote, hops, caller, call }: Incoming): End {
  const { server, listener, service } = endpoint
  const { highWaterMark: mark } = server as { highWaterMark?: number }
  const options = { allowHalfOpen: true, readableHighWaterMark: mark, writableHighWaterMark: mark }
  const socket = new MemorySocket(options)
  socket.accepted()
  const end: End = new End(socket, {
    local,
    remote,
    enter: endpoint.enter({ service, hops }, currentContext),
    onFirstBytes() {
      if (endpoint.state === 'stopped') return void socket.destroy()
      socket.read(0)
      const isGone = (): boolean => end.isLeft
      listener!.take(socket, { hops, caller, call, isGone, callerPort: remote.port, port: local.port })
    },
  })
  return end
}
