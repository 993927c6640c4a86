import type { Socket } from 'node:net'

export interface Port {
  readonly port: number
  /** Stops accepting; resolves when the port is free. Accepted connections stay open. */
  close(): Promise<void>
}

export interface PortHandlers {
  /** Called with each accepted connection. */
  connection(socket: Socket): void
  /** A connection could not be accepted, usually for lack of descriptors; the port stays open. */
  error(error: NodeJS.ErrnoException): void
}
