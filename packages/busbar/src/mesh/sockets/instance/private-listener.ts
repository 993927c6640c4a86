/**
 * An instance's private socket. The program's own server listens on a Unix socket that only this
 * user can reach, but sees the address that the program asked for. Node counts, times out and
 * closes these connections like any others.
 *
 * Each connection starts with a {@link ConnectionPreamble}. The server's `emit` is replaced: it
 * reads the preamble, and reports each request to the mesh before any listener of the program runs.
 * All of this is documented API.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { type AddressInfo, type Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { closesIfIdle, entersContext } from '../../http/exchange.ts'
import { readFirstLine, startsHttp2 } from '../first-bytes.ts'
import { emitInContext } from '../../tracing/traced-request.ts'
import { type ConnectionPreamble, maxPreamble, readPreamble } from './preamble.ts'
import { type Emit, emitOf } from './server-emit.ts'
import { loopback, presentAddresses } from '../tcp-address.ts'

/** Milliseconds that a connection may take to send its preamble. */
const preambleTimeout = 10_000

/** A request on one of these connections. An upgrade, and CONNECT, have no response. */
export interface ArrivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse | undefined
  readonly socket: Socket
  /** Passes the request to the program. */
  readonly next: () => boolean
}

/** Handles the connections and requests of one instance. */
export interface InstanceHandler {
  /** `next` passes the connection to the program's server. */
  connected(socket: Socket, preamble: ConnectionPreamble, next: () => void): void
  /** Called for requests on connections that {@link connected} was called for. */
  requested(arrived: ArrivedRequest): boolean
}

export interface PrivateListenerOptions {
  readonly path: string
  /** The result of `server.address()`. */
  readonly address: AddressInfo | string
  /** For an HTTP/2 server: handles the connections whose client speaks HTTP/1.1. */
  readonly front?: HttpServer | undefined
}

export class PrivateListener {
  readonly path: string
  readonly #server: Server
  readonly #front: HttpServer | undefined
  readonly #emit: Emit
  /** Connections whose preamble has been read. */
  readonly #opened = new WeakSet<Socket>()
  /** How many connections to the private socket are open. */
  #accepted = 0
  /**
   * Open connections that were passed in. They have no preamble on the wire, and Node does not
   * count them.
   */
  readonly #passedIn = new Set<Socket>()
  /** The server has closed, except for those. */
  #isClosed = false
  #address: AddressInfo | string
  /** Connections that have sent no request yet. The program has not seen them. */
  readonly #unused = new Set<Socket>()
  #instance: InstanceHandler | undefined

  /** The caller makes the server listen at `path`. */
  constructor(server: Server, { path, address, front }: PrivateListenerOptions) {
    this.path = path
    this.#address = address
    this.#server = server
    this.#front = front
    this.#emit = emitOf(server)
    const { close, getConnections, closeIdleConnections } = bound(server)
    replaceOwn(server, {
      emit: (event: string | symbol, ...args: unknown[]) => this.#onEmit(event, args),
      close: (...args: Parameters<typeof close>) => {
        const closing = close(...args)
        for (const socket of this.#unused) socket.destroy()
        return closing
      },
      getConnections: (callback: (error: Error | null, count: number) => void) =>
        getConnections((error, count) => callback(error, count + this.#passedIn.size)),
      address: () => (server.listening ? this.#address : null),
      ...(closeIdleConnections !== undefined && {
        closeIdleConnections: () => this.#closeIdle(closeIdleConnections),
      }),
    })
  }

  /**
   * The program makes its closed server listen again, at the same path. Connections that are still
   * open stay.
   */
  listenAgain(address: AddressInfo | string): void {
    this.#address = address
    this.#isClosed = false
  }

  /** Connections that arrive before this call are closed. */
  serve(instance: InstanceHandler): void {
    this.#instance = instance
  }

  /** Passes in a connection that another listener has accepted. */
  accept(socket: Socket & { [entersContext]?: () => void }): void {
    if (!this.#server.listening) return void socket.destroy()
    // HTTP servers have half-open connections, TLS servers do not.
    socket.allowHalfOpen = (this.#server as { allowHalfOpen?: boolean }).allowHalfOpen ?? true
    if (entersContext in socket) socket[entersContext]!()
    else emitInContext(socket, AsyncLocalStorage.snapshot())
    if (this.#admit(socket)) this.#emit('connection', socket)
  }

  /**
   * Passes in a connection of the mesh that is not a system socket. Its first bytes have arrived.
   */
  acceptFromMesh(socket: Socket, preamble: ConnectionPreamble): void {
    if (!this.#server.listening) return void socket.destroy()
    if (!this.#admit(socket)) return
    if (this.#front === undefined) this.#announce(socket, preamble, false)
    else void this.#announceByFirstBytes(socket, preamble)
  }

  /** `close()` calls this, too. Connections in memory lose no request that is on its way. */
  #closeIdle(closeIdleConnections: () => void): void {
    const inMemory = [...this.#passedIn].filter((socket) => closesIfIdle in socket)
    for (const socket of inMemory) Object.assign(socket, { [closesIfIdle]: true })
    try {
      closeIdleConnections()
    } finally {
      for (const socket of inMemory) Object.assign(socket, { [closesIfIdle]: false })
    }
  }

  #onEmit(event: string | symbol, args: unknown[]): boolean {
    switch (event) {
      case 'connection':
        return this.#onConnection(args[0] as Socket)
      case 'request':
      case 'checkContinue':
      case 'checkExpectation':
        return this.#onRequest(event, args, args[1] as ServerResponse)
      case 'upgrade':
      case 'connect':
        return this.#onRequest(event, args, undefined)
      case 'close':
        this.#isClosed = true
        return this.#passedIn.size === 0 && this.#emit('close')
      default:
        return this.#emit(event, ...args)
    }
  }

  #onRequest(event: string, args: unknown[], response: ServerResponse | undefined): boolean {
    const request = args[0] as IncomingMessage
    const { socket } = request
    if (this.#instance === undefined || !this.#opened.has(socket)) return this.#emit(event, ...args)
    const next = (): boolean => this.#emit(event, ...args)
    return this.#instance.requested({ request, response, socket, next })
  }

  #onConnection(socket: Socket): boolean {
    if (!isUnixSocket(socket) || this.#opened.has(socket)) return this.#emit('connection', socket)
    this.#accepted++
    socket.once('close', () => this.#accepted--)
    void this.#readPreamble(socket)
    return true
  }

  async #readPreamble(socket: Socket): Promise<void> {
    const ignore = (): void => {}
    socket.on('error', ignore)
    const line = await readFirstLine(socket, maxPreamble, preambleTimeout)
    const preamble = line === undefined ? undefined : readPreamble(line)
    if (preamble === undefined || !this.#server.listening) socket.destroy()
    this.#unused.add(socket)
    const isHttp2 = await startsHttp2(socket, this.#front !== undefined)
    this.#unused.delete(socket)
    socket.off('error', ignore)
    if (preamble === undefined || isOver(socket)) return void socket.destroy()
    presentAddresses(socket, { local: loopback(preamble.port), remote: loopback(preamble.callerPort) })
    this.#announce(socket, preamble, isHttp2)
  }

  async #announceByFirstBytes(socket: Socket, preamble: ConnectionPreamble): Promise<void> {
    const isHttp2 = await startsHttp2(socket, true)
    if (isOver(socket)) socket.destroy()
    else this.#announce(socket, preamble, isHttp2)
  }

  #announce(socket: Socket, preamble: ConnectionPreamble, isHttp2: boolean): void {
    if (this.#instance === undefined) return void socket.destroy()
    this.#opened.add(socket)
    this.#instance.connected(socket, preamble, () => this.#emitConnection(socket, isHttp2))
  }

  /**
   * A TLS server gets the connection after its handshake, so that its program answers in plain
   * text.
   */
  #emitConnection(socket: Socket, isHttp2: boolean): void {
    if (this.#front !== undefined && !isHttp2) this.#front.emit('connection', socket)
    else if (this.#server instanceof TlsServer) {
      Object.assign(socket, { alpnProtocol: isHttp2 ? 'h2' : 'http/1.1' })
      this.#emit('secureConnection', socket)
    } else this.#emit('connection', socket)
  }

  /** False if the server is at its `maxConnections`. Then drops the connection as Node does. */
  #admit(socket: Socket): boolean {
    const { maxConnections } = this.#server
    if (this.#passedIn.size + this.#accepted >= (maxConnections ?? Infinity)) {
      const { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily } = socket
      this.#emit('drop', { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily })
      socket.destroy()
      return false
    }
    this.#passedIn.add(socket)
    socket.once('close', () => {
      this.#passedIn.delete(socket)
      if (this.#isClosed && this.#passedIn.size === 0) this.#emit('close')
    })
    return true
  }
}

/**
 * The client has left without a word, as undici does after a response that it did not read to the
 * end. A server that gets such a socket has missed its 'end', and would keep it.
 */
function isOver(socket: Socket): boolean {
  return socket.destroyed || socket.readableEnded
}

/**
 * False for connections that a program emits, as Node documents: those have addresses, or are not
 * sockets.
 */
function isUnixSocket(socket: unknown): boolean {
  return socket instanceof Socket && socket.remoteAddress === undefined
}

type Bound = Pick<Server, 'close' | 'getConnections'> & { readonly closeIdleConnections: (() => void) | undefined }

function bound(server: Server & { closeIdleConnections?: () => void }): Bound {
  return {
    close: server.close.bind(server),
    getConnections: server.getConnections.bind(server),
    closeIdleConnections: server.closeIdleConnections?.bind(server),
  }
}

function replaceOwn(server: Server, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(server, name, { value, configurable: true, writable: true })
}
