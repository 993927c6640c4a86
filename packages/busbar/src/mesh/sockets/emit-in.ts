import type { Socket } from 'node:net'

type Run = (callback: () => boolean) => boolean

/**
 * Has a connection's events heard in a context of the caller's: Node tells them in the one that the system's handle was made in.
 * A parser that reads from the handle keeps its own.
 */
export function emitIn(socket: Socket, run: Run): void {
  const emit = socket.emit.bind(socket) as (...args: unknown[]) => boolean
  const value = (...args: unknown[]): boolean => run(() => emit(...args))
  Object.defineProperty(socket, 'emit', { value, configurable: true, writable: true })
}
