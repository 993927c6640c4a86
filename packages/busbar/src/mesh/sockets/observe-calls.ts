import type { Duplex } from 'node:stream'

/** Sees what is written to a stream, or what its source pushes. */
export type SeenCall = (chunk: unknown, encoding: unknown) => void

/**
 * Calls `seen` with the first arguments before each call of a method, until the function that it
 * returns is called. That also restores the method, unless somebody else has replaced it since.
 */
export function observeCalls(socket: Duplex, method: 'write' | 'end' | 'push', seen: SeenCall): () => void {
  const own = Object.getOwnPropertyDescriptor(socket, method)
  const original = socket[method] as (...args: unknown[]) => unknown
  let isStopped = false
  const value = function (this: Duplex, ...args: unknown[]): unknown {
    if (!isStopped) seen(args[0], args[1])
    return Reflect.apply(original, this, args)
  }
  Object.defineProperty(socket, method, { value, configurable: true, writable: true })
  return () => {
    isStopped = true
    if (Object.getOwnPropertyDescriptor(socket, method)?.value !== value) return
    if (own === undefined) Reflect.deleteProperty(socket, method)
    else Object.defineProperty(socket, method, own)
  }
}

/** The program may have as many listeners as without one of Busbar. */
export function raiseMaxListeners(socket: Duplex, by: 1 | -1): void {
  const most = socket.getMaxListeners()
  // 0: no limit.
  if (most > 0) socket.setMaxListeners(most + by)
}

export function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8'
}
