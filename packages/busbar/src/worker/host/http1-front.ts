import type { EventEmitter } from 'node:events'
import http from 'node:http'
import type { Server } from 'node:net'
import type { CapturedServer } from './captured-server.ts'
import { isHttp2Server } from './server-kinds.ts'

/** What an `http2` server lacks to be called over the mesh. */
export function frontWarning({ server }: CapturedServer): string | undefined {
  if (!isHttp2Server(server) || server.listenerCount('request') > 0) return undefined
  return "its http2 server has only 'stream' listeners: calls by name are HTTP/1.1 and need a 'request' listener"
}

const forwarded = new Set<string | symbol>([
  'request',
  'upgrade',
  'connect',
  'checkContinue',
  'checkExpectation',
  'clientError',
])

/**
 * The server that the mesh calls in HTTP/1.1 and plain text in the place of an `http2` server: gives its listeners the requests as
 * its own `allowHTTP1` would.
 */
export class Http1Front extends http.Server {
  readonly #origin: Server

  constructor(origin: Server) {
    super()
    this.#origin = origin
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const target: EventEmitter = this.#origin
    return forwarded.has(event) ? target.emit(event, ...args) : super.emit(event as string, ...args)
  }

  override listenerCount(event: string): number {
    return forwarded.has(event) ? this.#origin.listenerCount(event) : super.listenerCount(event)
  }
}
