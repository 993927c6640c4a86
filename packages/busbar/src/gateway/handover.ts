import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../mesh/routing/endpoint.ts'
import type { Scope } from '../mesh/scope.ts'
import type { CutWrite, RequestContext } from './request-context.ts'

/**
 * The attachment point of the `handover` accelerator, which gives the gateway's own request and
 * response to a program in the same worker. Without it, such requests are forwarded as to any other
 * worker.
 */
export interface Handover {
  /** False if requests for this program must be forwarded. */
  accepts(endpoint: LocalEndpoint): boolean
  request(context: RequestContext, endpoint: LocalEndpoint, scope: Scope): void
  /**
   * True if a program has ended its response before the length that it states. `written`: bytes of
   * the connection for this response, or more.
   */
  isShort(res: ServerResponse, written: number): boolean
  readonly cut: CutWrite
  /** Decides as the program's own server would. */
  wantsUpgrade(req: IncomingMessage, endpoint: LocalEndpoint): boolean
  /** `head`: what the client sent after its request. */
  upgrade(req: IncomingMessage, socket: Socket, head: Buffer, endpoint: LocalEndpoint, scope: Scope): void
}

/**
 * Treats an `Expect` header as Node's server does when it has no listener for it. Returns false if
 * it has sent the response (417).
 */
export function handleExpect({ event, res }: RequestContext): boolean {
  if (event === 'checkExpectation') res.writeHead(417).end()
  else if (event === 'checkContinue') res.writeContinue()
  return event !== 'checkExpectation'
}
