import type { EventEmitter } from 'node:events'
import http from 'node:http'
import type { Server } from 'node:net'
import { type CapturedServer, isHttp2Server } from './captured-server.ts'

/** Warns of an `http2` server that cannot be called over the mesh. */
export function http2Warning({ server }: CapturedServer): string | undefined {
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
 * Stands in front of an `http2` server: the mesh calls it in HTTP/1.1 without TLS, and it emits the
 * requests on the `http2` server, as that server's own `allowHTTP1` option would.
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
