/**
 * Adds an existing socket to the connections of a `net.Server`, as the server does with a
 * connection from the kernel (`onconnection` in lib/net.js): the server counts it, and closes only
 * after it.
 */
import { createServer, type Server, Socket } from 'node:net'

interface CountingServer extends Server {
  _connections: number
}

interface CountedSocket extends Socket {
  server: unknown
  _server: unknown
}

/** False if the server has reached its `maxConnections`. */
export function hasRoom(server: Server): boolean {
  return (server as CountingServer)._connections < (server.maxConnections ?? Infinity)
}

/** Makes `socket` a connection of the server. */
export function countConnection(server: Server, socket: Socket): void {
  ;(server as CountingServer)._connections++
  Object.assign(socket as CountedSocket, { server, _server: server })
}

/** Undefined if a server stops counting such a connection when it is destroyed. */
export function connectionsFault(): unknown {
  const server = createServer() as CountingServer
  const socket = new Socket()
  countConnection(server, socket)
  const before = server._connections
  socket.destroy()
  const after = server._connections
  return before === 1 && after === 0 ? undefined : `a server counts ${before} and ${after} connections for 1 and 0`
}
