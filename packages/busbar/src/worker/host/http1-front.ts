import type { EventEmitter } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { listenVirtually } from '../../mesh/listener.ts'
import type { CapturedServer } from './captured-server.ts'
import { isHttp2Server } from './server-kinds.ts'

/**
 * The server that the mesh calls, in HTTP/1.1 and plain text: the program's own where it is `http` or `https`. An
 * `http2` server gets a front, which gives its listeners the requests as its own `allowHTTP1` would.
 */
export function callableServer({ server, address, front: own }: CapturedServer): http.Server {
  if (own !== undefined) return own
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

const forwarded = new Set<string | symbol>(['request', 'upgrade', 'connect', 'checkContinue', 'checkExpectation'])

export class Http1Front extends http.Server {
  readonly #origin: Server
  /** Takes the HTTP/1 parser off a connection. */
  readonly #release = new WeakMap<Socket, () => void>()

  constructor(origin: Server) {
    super()
    this.#origin = origin
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (forwarded.has(event)) return this.#toOrigin(event, ...args)
    if (event === 'connection') return this.#connect(args[0] as Socket)
    if (event === 'clientError') return this.#fail(args[0] as ParseError, args[1] as Socket)
    return super.emit(event as string, ...args)
  }

  override listenerCount(event: string): number {
    return forwarded.has(event) ? this.#origin.listenerCount(event) : super.listenerCount(event)
  }

  #toOrigin(event: string | symbol, ...args: unknown[]): boolean {
    const origin: EventEmitter = this.#origin
    return origin.emit(event, ...args)
  }

  #connect(socket: Socket): boolean {
    const before = listenersOf(socket)
    const taken = super.emit('connection', socket)
    const added = listenersOf(socket).filter((one) => !before.some((other) => isSame(one, other)))
    this.#release.set(socket, () => {
      for (const { event, listener } of added) socket.removeListener(event, listener)
    })
    return taken
  }

  /** The parser stops at the first bytes of a client that speaks HTTP/2 from the start: it gets what it wants. */
  #fail(error: ParseError, socket: Socket): boolean {
    if (error.code !== 'HPE_PAUSED_H2_UPGRADE') return this.#toOrigin('clientError', error, socket)
    this.#release.get(socket)?.()
    detachParser(socket as unknown as ParsedSocket)
    socket.unshift(error.rawPacket)
    this.#origin.emit('connection', socket)
    return true
  }
}

interface ParseError extends Error {
  readonly code: string
  /** All that came, from the first byte on. */
  readonly rawPacket: Uint8Array
}

interface ParsedSocket {
  parser: { remove(): void } | null
  readableFlowing: boolean | null
}

/** As Node does for an upgrade. */
function detachParser(socket: ParsedSocket): void {
  socket.parser?.remove()
  socket.parser = null
  socket.readableFlowing = null
}

interface Listening {
  readonly event: string | symbol
  readonly listener: (...args: unknown[]) => void
}

function listenersOf(socket: Socket): Listening[] {
  return socket.eventNames().flatMap((event) => {
    return socket.rawListeners(event).map((listener) => ({ event, listener: listener as Listening['listener'] }))
  })
}

function isSame(one: Listening, other: Listening): boolean {
  return one.event === other.event && one.listener === other.listener
}
