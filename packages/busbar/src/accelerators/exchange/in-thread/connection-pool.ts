import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import type { LocalEndpoint } from '../../../mesh/routing/endpoint.ts'
import type { Scope } from '../../../mesh/scope.ts'
import { appendTraceTo } from '../../../mesh/tracing/trace-headers.ts'
import { ContextCache } from './context-cache.ts'
import { countConnection, hasRoom } from '../../../node/connections.ts'
import { callbacksOf, lookAtRequests, parserOf, parseSilently, type RequestCallbacks } from '../../../node/parser.ts'
import { recountHeaders } from '../../../node/request-headers.ts'
import { VirtualHandle } from './virtual-handle.ts'
import { type SocketPool, VirtualSocket } from './virtual-socket.ts'

/** Idle connections that are kept. They time out by themselves. */
const maxIdle = 2048

/** Milliseconds by which the close of an idle connection may be late. */
const sweepInterval = 1_000

/**
 * Makes a parser that gets no text count as idle. Otherwise the connection would seem slow to send
 * its first request.
 */
const finishedRequest = Buffer.from('GET / HTTP/1.1\r\n\r\n')

/** Node publishes each connection of a server on it, after the server's listeners have run. */
const serverSockets = channel('net.server.socket')

const pools = new WeakMap<LocalEndpoint, ConnectionPool>()

/**
 * The virtual keep-alive connections of one endpoint: one per call in flight; the last one used is
 * reused first. The server counts them, times them out after its `keepAliveTimeout`, and closes
 * them.
 */
export class ConnectionPool implements SocketPool {
  /** The callbacks of the server's parsers. Set with the first connection. */
  callbacks!: RequestCallbacks
  readonly contexts: ContextCache
  readonly answered: LocalEndpoint['answered']
  readonly #server: LocalEndpoint['server']
  readonly #idle: VirtualSocket[] = []
  readonly #scope: Scope
  #opened = 0
  /** Time in milliseconds, as the sweeper counts it. */
  #clock = 0
  #sweeper: NodeJS.Timeout | undefined

  static of(endpoint: LocalEndpoint): ConnectionPool {
    const known = pools.get(endpoint)
    if (known !== undefined) return known
    const pool = new ConnectionPool(endpoint)
    pools.set(endpoint, pool)
    return pool
  }

  constructor(endpoint: LocalEndpoint) {
    this.contexts = new ContextCache(endpoint)
    this.#scope = { service: endpoint.service, hops: 0 }
    this.#server = endpoint.server
    this.answered = endpoint.answered
  }

  /**
   * Undefined if the server accepts no more connections. A new connection runs the program's
   * `'connection'` listeners.
   */
  acquire(): VirtualSocket | undefined {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop())
      // A connection that the program has ended while idle may still be in the list.
      if (socket.writable) return socket
    return this.#connect()
  }

  release(socket: VirtualSocket): void {
    if (this.#idle.length >= maxIdle || !this.#server.listening) {
      process.nextTick(() => socket.destroy())
      return
    }
    socket.idleSince = this.#clock
    this.#idle.push(socket)
    // Not in the async context of the first call.
    if (this.#sweeper === undefined) this.contexts.enter(this.#scope, startSweeper, this, undefined)
  }

  /** Removes a socket that was closed, by its timeout or by the server. */
  remove(socket: VirtualSocket): void {
    const index = this.#idle.indexOf(socket)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  startSweeper(): void {
    this.#sweeper = setInterval(() => this.#sweep(), sweepInterval).unref()
  }

  /** The last one used is reused first, so the first ones of the list have been idle longest. */
  #sweep(): void {
    this.#clock += sweepInterval
    const limit = this.#idle.findIndex((socket) => !socket.isExpired(this.#clock))
    for (const socket of limit === -1 ? this.#idle.splice(0) : this.#idle.splice(0, limit))
      this.contexts.enter(this.#scope, expire, socket, undefined)
    if (this.#idle.length > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }

  #connect(): VirtualSocket | undefined {
    const server = this.#server
    const handle = new VirtualHandle(this.#localAddress(), this.#remoteAddress())
    if (!hasRoom(server)) {
      server.emit('drop', dropped(handle))
      return undefined
    }
    const socket = new VirtualSocket(this, server, handle)
    countConnection(server, socket)
    // An https server gets HTTP connections from its TLS layer. Here nothing is encrypted, and the
    // socket's properties show that.
    server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket)
    if (serverSockets.hasSubscribers) serverSockets.publish({ socket })
    return this.#prepare(socket)
  }

  #prepare(socket: VirtualSocket): VirtualSocket | undefined {
    const parser = parserOf(socket)
    if (parser === undefined) {
      socket.destroy()
      return undefined
    }
    this.callbacks ??= callbacksOf(parser)
    lookAtRequests(parser, (request) => completeHead(request, socket))
    parseSilently(parser, finishedRequest)
    return socket
  }

  #localAddress(): AddressInfo {
    const address = this.#server.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    return { address: '127.0.0.1', family: 'IPv4', port }
  }

  /** A port outside of the default range for clients, different for each connection. */
  #remoteAddress(): AddressInfo {
    return { address: '127.0.0.1', family: 'IPv4', port: 1024 + (this.#opened++ % 31_744) }
  }
}

/**
 * Adds what the exchange adds to the head of a request. Among the other fields it would take 0.2 µs
 * more: Node makes a new text of each name that it does not know.
 */
function completeHead(request: IncomingMessage, { exchange }: VirtualSocket): void {
  const trace = exchange?.trace
  if (trace === undefined) return
  appendTraceTo(request, trace)
  recountHeaders(request)
}

function startSweeper(pool: ConnectionPool): void {
  pool.startSweeper()
}

/**
 * Does what the socket's own timer would. If the program then keeps it open, the client closes it.
 */
function expire(socket: VirtualSocket): void {
  socket.emit('timeout')
  socket.hangUp(false)
}

function dropped(handle: VirtualHandle): Record<string, unknown> {
  const local: Partial<AddressInfo> = {}
  const remote: Partial<AddressInfo> = {}
  handle.getsockname(local)
  handle.getpeername(remote)
  return {
    localAddress: local.address,
    localPort: local.port,
    localFamily: local.family,
    remoteAddress: remote.address,
    remotePort: remote.port,
    remoteFamily: remote.family,
  }
}
