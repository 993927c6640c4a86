import type { EventEmitter } from 'node:events'

export type Emit = (event: string | symbol, ...args: unknown[]) => boolean

/**
 * The `emit` that a server has before it gets one of its own. One of its prototype is looked up at
 * each event: instrumentation may replace it while the server listens already, as OpenTelemetry's
 * does when an ES module has imported `node:http` before something requires it.
 */
export function emitOf(server: EventEmitter): Emit {
  if (Object.hasOwn(server, 'emit')) return server.emit.bind(server)
  const prototype = Object.getPrototypeOf(server) as EventEmitter
  return (event, ...args) => prototype.emit.call(server, event, ...args)
}
