import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../mesh/endpoint.ts'
import type { Scope } from '../mesh/scope.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Where an accelerator attaches that gives the gateway's own request and response to a program of the same worker. Without it
 * such a request is forwarded, as to any other worker.
 */
export interface Handover {
  /** False: this program has to be forwarded to. */
  takes(endpoint: LocalEndpoint): boolean
  request(context: RequestContext, endpoint: LocalEndpoint, scope: Scope): void
  /** As the program's own server would decide. */
  wantsUpgrade(req: IncomingMessage, endpoint: LocalEndpoint): boolean
  /** `head` is what the client sent behind its request. */
  upgrade(req: IncomingMessage, socket: Socket, head: Buffer, endpoint: LocalEndpoint, scope: Scope): void
}
