import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

/** What `net.Server` does with a connection from the kernel, for a socket that exists already. */
interface ServerInternals {
  _connections: number
  maxConnections?: number | null
}

interface SocketInternals {
  _server: unknown
  server: unknown
  alpnProtocol?: string
}

/** Node's HTTP parser of one connection; `onIncoming` hears of every request when its headers are complete. */
export interface ConnectionParser {
  onIncoming: ((request: IncomingMessage, keepAlive: boolean) => number) | null
}

/**
 * Gives a connected socket to a program's server, which counts it, times it out and closes it as one of its own. A TLS
 * server gets it as a connection whose handshake is done, so that its program answers in plain text.
 */
export function acceptSocket(server: HttpServer, socket: Socket): void {
  const counted = server as unknown as ServerInternals
  if (!server.listening || counted._connections >= (counted.maxConnections ?? Infinity)) {
    socket.destroy()
    return
  }
  counted._connections++
  const owned = socket as unknown as SocketInternals
  owned.server = server
  owned._server = server
  socket.read(0)
  if (server instanceof TlsServer) {
    owned.alpnProtocol = 'http/1.1'
    server.emit('secureConnection', socket)
  } else server.emit('connection', socket)
}

/** Undefined where a server speaks no HTTP/1, or keeps its parser to itself. */
export function parserOf(socket: Socket): ConnectionParser | undefined {
  const { parser } = socket as { parser?: ConnectionParser | null }
  return typeof parser?.onIncoming === 'function' ? parser : undefined
}

/**
 * Lets `listener` stand between the parser of this one connection and the server, for a closure per request; the gateway, which
 * would pay it with each, steps in by itself (`gateway/arrivals.ts`). False where the server speaks no HTTP/1.
 */
export function interceptRequests(
  socket: Socket,
  listener: (request: IncomingMessage, next: () => number) => number,
): boolean {
  const parser = parserOf(socket)
  if (parser === undefined) return false
  const onIncoming = parser.onIncoming!
  parser.onIncoming = (request, keepAlive) => listener(request, () => onIncoming(request, keepAlive))
  return true
}
