import type { Server, Socket } from 'node:net'

/** Takes connections that were accepted elsewhere. */
export interface ConnectionTaker {
  /** One that comes after `close()` is closed. */
  accept(socket: Socket): void
}

/** Lets a server that listens nowhere serve connections, as `server.emit('connection')` is documented to. */
export function giveConnections(server: Server): ConnectionTaker {
  let isClosed = false
  server.once('close', () => (isClosed = true))
  // Servers of HTTP watch over slow headers from then on.
  server.emit('listening')
  return {
    accept(socket) {
      if (isClosed) socket.destroy()
      else server.emit('connection', socket)
    },
  }
}
