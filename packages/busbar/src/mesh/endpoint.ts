import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Scope } from './scope.ts'

/**
 * A service's instance in this thread, as the mesh sees it: the HTTP server of an unmodified program.
 * Made by the host, registered with the {@link Router}, called by the transports.
 */
export interface Endpoint {
  readonly service: string
  /** The program's own server, `http.createServer()` or a framework's; `https` servers are called in plain text. */
  readonly server: HttpServer
  readonly state: 'serving' | 'draining' | 'stopped'
  /**
   * Runs `callback` as the program itself would, with nothing of the caller's async context left (a caller's
   * AsyncLocalStorage stores must never reach the callee). 0.1 µs for the snapshot, 0.4 with a scope of its own.
   */
  enter<R>(scope: Scope, callback: () => R): R
  /**
   * Gives a connected socket to the program's server, which then speaks HTTP on it: upgrades included. The socket may
   * have no handle of the system's (see `bytes/end.ts`): `acceptSocket` in `bytes/accept.ts` does all that is needed.
   */
  connect(socket: Socket): void
}
