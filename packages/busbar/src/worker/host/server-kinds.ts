import http from 'node:http'
import net, { type Server } from 'node:net'

/** `https` and `http2` servers are told by their shape and name, so that asking does not load these modules. */
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
