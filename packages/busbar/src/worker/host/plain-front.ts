import type { EventEmitter } from 'node:events'
import http from 'node:http'
import type { Server } from 'node:net'
import { isHttp2Server } from './listen.ts'

/**
 * The server that a mesh call speaks plain HTTP/1.1 to: the program's own where it is one, else a front before an
 * `https` or `http2` server, which gives that server's listeners the requests without TLS and without frames.
 */
export function plainFront(server: Server): http.Server {
  return server instanceof http.Server ? server : new Front(server)
}

/** What an `http2` server without `'request'` listeners lacks to be called over the mesh. */
export function frontWarning(server: Server): string | undefined {
  if (!isHttp2Server(server) || server.listenerCount('request') > 0) return undefined
  return `its http2 server has only 'stream' listeners, so that calls by name, which are HTTP/1.1, find nobody; a 'request' listener answers both`
}

const forwarded = new Set<string | symbol>([
  'request',
  'upgrade',
  'connect',
  'checkContinue',
  'checkExpectation',
  'clientError',
  'dropRequest',
])

const shared = ['maxHeaderSize', 'maxHeadersCount', 'maxRequestsPerSocket', 'keepAliveTimeout', 'timeout'] as const

class Front extends http.Server {
  readonly #origin: EventEmitter

  constructor(origin: Server) {
    super()
    this.#origin = origin
    for (const key of shared) if (key in origin) Object.assign(this, { [key]: Reflect.get(origin, key) as unknown })
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return forwarded.has(event) ? this.#origin.emit(event, ...args) : super.emit(event as string, ...args)
  }

  override listenerCount(event: string): number {
    return forwarded.has(event) ? this.#origin.listenerCount(event) : super.listenerCount(event)
  }
}
