import type { Server, Socket } from 'node:net'

/** Serves connections that another listener has accepted. */
export interface ConnectionSink {
  /** Closes the connection if the server is closed. */
  accept(socket: Socket): void
}

/**
 * Lets a server that does not listen serve connections, by the documented
 * `server.emit('connection')`.
 */
export function toConnectionSink(server: Server): ConnectionSink {
  let isClosed = false
  server.once('close', () => (isClosed = true))
  // Starts the header timeouts of HTTP servers.
  server.emit('listening')
  return {
    accept(socket) {
      if (isClosed) socket.destroy()
      else server.emit('connection', socket)
    },
  }
}
