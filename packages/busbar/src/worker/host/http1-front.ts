import type { EventEmitter } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { listenVirtually } from '../../mesh/listener.ts'
import { isHttp2Server, type CapturedServer } from './listen.ts'

/**
 * The server that the mesh calls, in HTTP/1.1 and plain text: the program's own where it is `http` or `https`. An
 * `http2` server gets a front, which gives its listeners the requests as its own `allowHTTP1` would.
 */
export function callableServer({ server, address }: CapturedServer): http.Server {
  if (!isHttp2Server(server)) return server as http.Server
  const front = new Http1Front(server)
  listenVirtually(front, typeof address === 'string' ? anywhere : address)
  return front
}

/** What an `http2` server lacks to be called over the mesh. */
export function frontWarning({ server }: CapturedServer): string | undefined {
  if (!isHttp2Server(server) || server.listenerCount('request') > 0) return undefined
  return "its http2 server has only 'stream' listeners: calls by name are HTTP/1.1 and need a 'request' listener"
}

const anywhere: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 80 }

const forwarded = new Set<string | symbol>([
  'request',
  'upgrade',
  'connect',
  'checkContinue',
  'checkExpectation',
  'clientError',
])

class Http1Front extends http.Server {
  readonly #origin: EventEmitter

  constructor(origin: Server) {
    super()
    this.#origin = origin
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return forwarded.has(event) ? this.#origin.emit(event, ...args) : super.emit(event as string, ...args)
  }

  override listenerCount(event: string): number {
    return forwarded.has(event) ? this.#origin.listenerCount(event) : super.listenerCount(event)
  }
}
