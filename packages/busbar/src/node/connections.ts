/**
 * What `net.Server` does with a connection that the kernel gives it (`onconnection` in lib/net.js), for a socket that exists
 * already: the server counts it, and closes only when it has gone.
 */
import { createServer, type Server, Socket } from 'node:net'

interface CountingServer extends Server {
  _connections: number
}

interface CountedSocket extends Socket {
  server: unknown
  _server: unknown
}

/** False where the server refuses another connection (`maxConnections`). */
export function hasRoom(server: Server): boolean {
  return (server as CountingServer)._connections < (server.maxConnections ?? Infinity)
}

/** From now on `socket` is one of the server's. */
export function countConnection(server: Server, socket: Socket): void {
  ;(server as CountingServer)._connections++
  Object.assign(socket as CountedSocket, { server, _server: server })
}

/** Undefined where a server forgets such a connection when it is destroyed. */
export function connectionsFault(): unknown {
  const server = createServer() as CountingServer
  const socket = new Socket()
  countConnection(server, socket)
  const before = server._connections
  socket.destroy()
  const after = server._connections
  return before === 1 && after === 0 ? undefined : `a server counts ${before} and ${after} connections for 1 and 0`
}
