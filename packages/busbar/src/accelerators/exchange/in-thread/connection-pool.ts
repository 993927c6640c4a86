import { Server as TlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import type { LocalEndpoint } from '../../../mesh/endpoint.ts'
import type { Scope } from '../../../mesh/scope.ts'
import { Entrance } from './entrance.ts'
import { countConnection, hasRoom } from '../../../node/connections.ts'
import { callbacksOf, parserOf, parseSilently, type RequestCallbacks } from '../../../node/parser.ts'
import { VirtualHandle } from './virtual-handle.ts'
import { VirtualSocket } from './virtual-socket.ts'

/** Idle ones that are kept: as many calls may be underway at once without making connections. They time out by themselves. */
const maxIdle = 2048

/** How late an idle connection may be closed, at most. */
const sweepInterval = 1_000

/** Lets a parser that never sees text count as idle, not as a connection that is slow to send its first request. */
const finishedRequest = Buffer.from('GET / HTTP/1.1\r\n\r\n')

const pools = new WeakMap<LocalEndpoint, ConnectionPool>()

/**
 * The virtual keep-alive connections of one endpoint: one per call in flight, the last one used first. They are the
 * server's own to count, to time out after its `keepAliveTimeout` and to close.
 */
export class ConnectionPool {
  /** Of the server's parsers; there once a connection was made. */
  callbacks!: RequestCallbacks
  readonly entrance: Entrance
  readonly #server: LocalEndpoint['server']
  readonly #idle: VirtualSocket[] = []
  readonly #scope: Scope
  #made = 0
  /** Milliseconds, as the sweeper counts them. */
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
    this.entrance = new Entrance(endpoint)
    this.#scope = { service: endpoint.service, hops: 0 }
    this.#server = endpoint.server
  }

  /** Undefined where the server takes no more connections. Runs the program's `'connection'` listeners. */
  take(): VirtualSocket | undefined {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop())
      // One that the program ended while it was idle has not gone yet.
      if (socket.writable) return socket
    return this.#connect()
  }

  give(socket: VirtualSocket): void {
    if (this.#idle.length >= maxIdle || !this.#server.listening) {
      process.nextTick(() => socket.destroy())
      return
    }
    socket.idleSince = this.#clock
    this.#idle.push(socket)
    // Not in the context of the call that happens to be the first.
    if (this.#sweeper === undefined) this.entrance.enter(this.#scope, startSweeper, this, undefined)
  }

  /** The socket was closed, by its timeout or by the server. */
  remove(socket: VirtualSocket): void {
    const index = this.#idle.indexOf(socket)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  startSweeper(): void {
    this.#sweeper = setInterval(() => this.#sweep(), sweepInterval).unref()
  }

  /** The last one used is taken first, so those at the bottom have waited longest. */
  #sweep(): void {
    this.#clock += sweepInterval
    const limit = this.#idle.findIndex((socket) => !socket.isExpired(this.#clock))
    for (const socket of limit === -1 ? this.#idle.splice(0) : this.#idle.splice(0, limit))
      this.entrance.enter(this.#scope, expire, socket, undefined)
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
    // An https server speaks HTTP on what its TLS layer hands it: here nothing is encrypted, and says so.
    server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket)
    return this.#prepare(socket)
  }

  #prepare(socket: VirtualSocket): VirtualSocket | undefined {
    const parser = parserOf(socket)
    if (parser === undefined) {
      socket.destroy()
      return undefined
    }
    this.callbacks ??= callbacksOf(parser)
    parseSilently(parser, finishedRequest)
    return socket
  }

  #localAddress(): AddressInfo {
    const address = this.#server.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    return { address: '127.0.0.1', family: 'IPv4', port }
  }

  /** No port that a system hands out to clients by default, and another for each connection. */
  #remoteAddress(): AddressInfo {
    return { address: '127.0.0.1', family: 'IPv4', port: 1024 + (this.#made++ % 31_744) }
  }
}

function startSweeper(pool: ConnectionPool): void {
  pool.startSweeper()
}

/** As its own timer would; and where the program listens to that and leaves it open, a client would close it. */
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
