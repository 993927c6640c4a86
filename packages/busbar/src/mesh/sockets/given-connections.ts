import type { Server } from 'node:net'
import { socketOver, type TcpHandle } from '../../shared/port.ts'

/** Takes connections that were accepted elsewhere. */
export interface ConnectionTaker {
  /** A connected TCP (or pipe) handle, from which nothing has been read. One that comes after `close()` is closed. */
  accept(handle: unknown): void
}

/** Lets a server that listens nowhere serve connections, as `server.emit('connection')` is documented to. */
export function giveConnections(server: Server): ConnectionTaker {
  let isClosed = false
  server.once('close', () => (isClosed = true))
  // Servers of HTTP watch over slow headers from then on.
  server.emit('listening')
  return {
    accept(handle) {
      const connection = handle as TcpHandle
      if (isClosed) connection.close()
      else server.emit('connection', socketOver(connection, false))
    },
  }
}
