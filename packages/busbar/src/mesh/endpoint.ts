import type { Server as HttpServer } from 'node:http'
import type { TypedHost } from '../contract/host/host.ts'
import type { Scope } from './scope.ts'

/**
 * A service's instance in this thread, as the mesh sees it: the HTTP server of an unmodified program.
 * Made by the host, registered with the {@link Router}, called by the transports.
 */
export interface Endpoint {
  readonly service: string
  /**
   * The program's own server, `http.createServer()` or a framework's, which listens on nothing that a caller could
   * reach; `https` servers are called in plain text. The byte stream gives it connections (`bytes/accept.ts`), the
   * exchange requests.
   */
  readonly server: HttpServer
  /** Of a typed service: how it is called without HTTP. */
  readonly typed?: TypedHost
  readonly state: 'serving' | 'draining' | 'stopped'
  /**
   * Runs `callback` as the program itself would, with nothing of the caller's async context left (a caller's
   * AsyncLocalStorage stores must never reach the callee). 0.1 µs for the snapshot, 0.4 with a scope of its own.
   */
  enter<R>(scope: Scope, callback: () => R): R
}
