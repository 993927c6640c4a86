import { EventEmitter } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'

/**
 * The server of a probe. It counts as listening. Its events do not pass through what a tracing
 * agent has put in the place of `emit` of Node's servers: a probe's requests are not the program's.
 */
export function probeServer(listener: RequestListener): Server {
  const server = createServer(listener)
  Object.defineProperty(server, 'listening', { value: true })
  const emit = (...args: [string, ...unknown[]]): boolean => EventEmitter.prototype.emit.apply(server, args)
  Object.defineProperty(server, 'emit', { value: emit })
  return server
}
