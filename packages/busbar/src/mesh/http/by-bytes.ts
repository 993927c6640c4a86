import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../endpoint.ts'
import type { HttpMesh } from '../mesh.ts'
import type { Scope } from '../scope.ts'
import { openConnection } from '../streams.ts'
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
  const createConnection = (): Socket => {
    const socket = openConnection(
      mesh,
      endpoint.service,
      80,
      { allowHalfOpen: true },
      { hops, caller: undefined, to: endpoint },
    )
    // An error behind the answer is nobody's.
    return socket.on('error', () => {})
  }
  return new TextExchange({
    target: { createConnection },
    request,
    handler,
    hungUp: () => closedByProgram(endpoint.service, request),
  })
}
