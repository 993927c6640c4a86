import { connectHere } from '../bytes/connect.ts'
import type { LocalEndpoint } from '../endpoint.ts'
import type { HttpMesh } from '../mesh.ts'
import type { Scope } from '../scope.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from './exchange.ts'
import { closedByProgram } from '../../accelerators/exchange/errors.ts'
import { TextExchange } from './text-exchange.ts'

/**
 * An exchange as HTTP text over a byte stream to an instance in this thread: for a request that came over a link, and of
 * which it only shows here that this server does something of its own with it (a smaller limit, a parser of its own).
 */
export function openByBytes(
  mesh: HttpMesh,
  endpoint: LocalEndpoint,
  request: ExchangeRequest,
  { hops }: Scope,
  handler: ExchangeHandler,
): Exchange {
  // An error behind the answer is nobody's.
  const target = { createConnection: () => connectHere(mesh, endpoint, hops).on('error', () => {}) }
  return new TextExchange({ target, request, handler, hungUp: () => closedByProgram(endpoint.service, request) })
}
