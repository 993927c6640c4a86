import type { AsyncLocalStorage } from 'node:async_hooks'
import http, { type Server as HttpServer } from 'node:http'
import net, { type AddressInfo, type Server } from 'node:net'
import type { PrivateListener } from '../../../mesh/sockets/instance/private-listener.ts'

/** A program's HTTP server that listens on a private socket in place of its port. */
export interface CapturedServer {
  readonly server: Server
  /** Its private socket. */
  readonly listener: PrivateListener
  /** Serves clients that speak HTTP/1.1 in place of an HTTP/2 server. */
  readonly front?: HttpServer | undefined
  /** What `server.address()` returns; a path for a server that listens on one. */
  readonly address: AddressInfo | string
  /** Runs a function in the async context that called `listen()`, as Node runs connections. */
  readonly context: ReturnType<typeof AsyncLocalStorage.snapshot>
}

/**
 * Recognises `https` and `http2` servers by shape and name, so that their modules are not loaded.
 */
export function isHttpServer(value: unknown): value is Server {
  if (value instanceof http.Server) return true
  return value instanceof net.Server && ('closeIdleConnections' in value || isHttp2Server(value))
}

export function isHttp2Server(server: Server): boolean {
  for (let proto: unknown = Object.getPrototypeOf(server); proto instanceof Object;) {
    const { name } = (proto as { constructor: { name: string } }).constructor
    if (name === 'Http2Server' || name === 'Http2SecureServer') return true
    proto = Object.getPrototypeOf(proto)
  }
  return false
}

/** The port, or the path for a server that listens on one. */
export function portOf({ address }: CapturedServer): number | string {
  return typeof address === 'string' ? address : address.port
}

export function describeAddress(address: AddressInfo | string): string {
  if (typeof address === 'string') return address
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  return `${host}:${address.port}`
}
