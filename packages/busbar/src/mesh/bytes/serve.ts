import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { LocalEndpoint } from '../endpoint.ts'
import { hopLimitProblem } from '../hops.ts'
import type { HttpMesh } from '../mesh.ts'
import { MeasuredCall } from '../meter.ts'
import { runInScope, type Scope } from '../scope.ts'
import { acceptSocket, interceptRequests } from './accept.ts'
import { answerProblem } from './answer-problem.ts'
import { currentContext, End } from './end.ts'
import { type Caller, passGate } from './gated.ts'
import { takeHops } from './hops.ts'
import { countRequest, responseOn } from './metered.ts'
import type { SocketAddress } from './socket.ts'

/** A connection as it comes to the service: where it leads, from where, and how many calls led to it. */
export interface Incoming {
  readonly local: SocketAddress
  readonly remote: SocketAddress
  readonly hops: number
  /** Undefined where it comes from this thread. */
  readonly caller?: Caller
  /** The service that calls; undefined where that is not known, or measures by itself how long its calls take. */
  readonly from?: string | undefined
}

/** Whoever computes here cannot give up here. */
const here: Caller = { call: { link: undefined, number: 0 }, isGone: () => false }

interface MutableScope extends Scope {
  hops: number
}

/**
 * The service's end of a connection. The program sees the connection when its first bytes come: an HTTP server never
 * speaks first, and one that was opened ahead of need would keep a server from closing that waits for its connections to
 * become idle.
 */
export function openServerEnd(mesh: HttpMesh, endpoint: LocalEndpoint, incoming: Incoming): End {
  const { local, remote, hops } = incoming
  const { server } = endpoint
  const highWaterMark = (server as { highWaterMark?: number }).highWaterMark
  const socket = new Socket({
    allowHalfOpen: true,
    ...(highWaterMark !== undefined && { readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark }),
  })
  // The connection's own scope: what its requests' bodies and an upgrade's messages cause counts like the last request.
  const scope: MutableScope = { service: endpoint.service, hops }
  return new End(socket, {
    local,
    remote,
    enter: endpoint.enter(scope, currentContext),
    onFirstBytes: () => acceptAtEndpoint(mesh, endpoint, scope, socket, incoming),
  })
}

function acceptAtEndpoint(
  mesh: HttpMesh,
  endpoint: LocalEndpoint,
  scope: MutableScope,
  socket: Socket,
  { caller = here, from }: Incoming,
): void {
  if (endpoint.state === 'stopped') {
    socket.destroy()
    return
  }
  acceptSocket(endpoint.server, socket)
  interceptRequests(socket, (request, next) => {
    const hops = takeHops(request) ?? scope.hops
    scope.hops = hops
    if (hops > mesh.maxHops) {
      answerProblem(hopLimitProblem(endpoint.service, mesh.maxHops), request, socket)
      return 0
    }
    const serve = (): number => {
      const measured = measure(mesh, endpoint, from)
      const result = countRequest(endpoint, socket, () => runInScope({ service: endpoint.service, hops }, next))
      if (measured !== undefined) responseOn(socket)?.once('close', measured.end)
      closeBehindAnswer(endpoint, socket)
      return result
    }
    const gate = mesh.gates?.get(endpoint.service)
    // An upgrade is no request that would have an end.
    if (gate === undefined || request.headers.upgrade !== undefined) return serve()
    return passGate(gate, { service: endpoint.service, request, socket, caller, next: serve })
  })
}

/** A client that speaks HTTP by itself is not seen to wait: the time counts from when its request is here. */
function measure({ meter }: HttpMesh, { service }: LocalEndpoint, from: string | undefined): MeasuredCall | undefined {
  const weight = from === undefined ? 0 : (meter?.next() ?? 0)
  return weight === 0 ? undefined : new MeasuredCall(meter!, from, service, weight)
}

/** A server that closes while it answers would wait for as long as the caller keeps the connection for a next request. */
function closeBehindAnswer(endpoint: LocalEndpoint, socket: Socket): void {
  const connection = socket as Socket & { _httpMessage?: ServerResponse | null }
  connection._httpMessage?.once('close', () => {
    if (!endpoint.server.listening && !connection._httpMessage) socket.destroySoon()
  })
}
