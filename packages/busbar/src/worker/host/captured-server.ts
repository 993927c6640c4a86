import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { PrivateListener } from '../../mesh/sockets/private-listener.ts'

/** A program's HTTP server that listens, though it has no port. */
export interface CapturedServer {
  readonly server: Server
  /** Where it listens on a private socket. */
  readonly listener: PrivateListener
  /** In the place of a server of HTTP/2, for clients that speak HTTP/1.1. */
  readonly front?: HttpServer | undefined
  /** What `server.address()` says; a path for a server that listens on one. */
  readonly address: AddressInfo | string
  /** Runs a callback in the async context that called `listen()`: the one that Node runs connections in. */
  readonly context: ReturnType<typeof AsyncLocalStorage.snapshot>
}
