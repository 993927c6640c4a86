import { Socket } from 'node:net'
import { isChosen } from '../../shared/accelerators.ts'
import { connectHere } from '../bytes/connect.ts'
import type { LocalEndpoint } from '../endpoint.ts'
import type { HttpMesh } from '../mesh.ts'
import type { Scope } from '../scope.ts'
import { connectBySocket } from '../sockets/connect.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from './exchange.ts'
import { closedByProgram } from './errors.ts'
import { TextExchange } from './text-exchange.ts'

/**
 * An exchange as HTTP text over a connection to an instance in this thread, for a request that came over a link: where nothing else
 * makes exchanges here, and where it only shows here that this server does something of its own with it (a smaller limit, a parser
 * of its own).
 */
export function openByBytes(
  mesh: HttpMesh,
  endpoint: LocalEndpoint,
  request: ExchangeRequest,
  { hops }: Scope,
  handler: ExchangeHandler,
): Exchange {
  // An error behind the answer is nobody's.
  const target = { createConnection: () => connect(mesh, endpoint, hops).on('error', () => {}) }
  return new TextExchange({ target, request, handler, hungUp: () => closedByProgram(endpoint.service, request) })
}

function connect(mesh: HttpMesh, endpoint: LocalEndpoint, hops: number): Socket {
  if (isChosen('stream')) return connectHere(mesh, endpoint, hops)
  const socket = new Socket({ allowHalfOpen: true })
  connectBySocket(mesh, endpoint.service, 80, socket, { hops, caller: undefined, to: endpoint })
  return socket
}
