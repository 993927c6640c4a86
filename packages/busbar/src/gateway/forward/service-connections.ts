import { Agent, type ClientRequestArgs, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { answererAt, type Endpoint } from '../../mesh/routing/endpoint.ts'
import type { ExchangeRequest } from '../../mesh/http/exchange.ts'
import type { MeshContext } from '../../mesh/mesh-context.ts'
import { openConnection as openMeshConnection } from '../../mesh/sockets/connect.ts'
import type { GatewayRoute } from '../routing/routes.ts'

/** A keep-alive connection that is not opened by host and port. */
interface NamedConnection {
  /** Requests with the same name share connections. */
  readonly name: string
  readonly connect: () => Socket
}

/**
 * Keeps connections for later requests. Node closes them before the server's keep-alive timeout.
 */
export class KeepAliveAgent extends Agent {
  constructor() {
    super({ keepAlive: true })
  }

  override createConnection(
    ...[options, callback]: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    const { connect } = options as ClientRequestArgs & Partial<NamedConnection>
    return connect === undefined ? super.createConnection(options, callback) : connect()
  }

  override getName(options: Parameters<Agent['getName']>[0]): string {
    return (options as Partial<NamedConnection> | undefined)?.name ?? super.getName(options)
  }
}

/** Where requests of one route are sent. */
export interface ConnectionParts {
  readonly mesh: MeshContext
  readonly route: GatewayRoute
  /** For system sockets only: connections in memory cost nothing to open. */
  readonly agent: KeepAliveAgent
  /** Called with the worker to which a new connection goes, as for `end` of an edge. */
  readonly found: (callee: number | undefined) => void
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * True if the request can be sent again after its keep-alive connection has closed, as a server may
 * do at any moment (RFC 9112, 9.3.1).
 */
export function canResend({ streamed, method }: ExchangeRequest): boolean {
  return !streamed && safe.has(method)
}

/** Undefined if the request needs a connection of its own. */
export function keepAliveConnection(
  { mesh, route, agent }: ConnectionParts,
  request: ExchangeRequest,
  to: Endpoint,
): RequestOptions | undefined {
  if (!canResend(request)) return undefined
  const path = to.at === 'tcp' ? `${to.host}:${to.port}` : to.at === 'here' ? to.listener?.path : to.path
  if (path === undefined || (to.at !== 'tcp' && mesh.streams !== undefined)) return undefined
  const named: NamedConnection = { name: path, connect: () => openConnection(mesh, route, to) }
  return { agent, ...named }
}

/** Without an agent: it would keep the connection, and open it in its own way. */
export function newConnection({ mesh, route, found }: ConnectionParts, to?: Endpoint): RequestOptions {
  return { createConnection: () => openConnection(mesh, route, to, found) }
}

/** `to`: an instance that was selected already. */
export function openConnection(
  mesh: MeshContext,
  { service, scope }: GatewayRoute,
  to?: Endpoint,
  found?: (callee: number | undefined) => void,
): Socket {
  const opens = (endpoint: Endpoint): void => found?.(answererAt(endpoint))
  const origin = { hops: scope.hops, caller: undefined, to, found: opens }
  // Node's client listens for errors only while it uses the connection. A later error concerns
  // no request.
  return openMeshConnection(mesh, service, 80, { allowHalfOpen: true }, origin).on('error', () => {})
}
