/**
 * An instance's private entrance: the program's own server really listens, on a Unix socket that only this user can reach, and
 * takes it for the address that it asked for. Node counts, times out and closes these connections as it does any others.
 *
 * What comes there begins with a line of the mesh's own ({@link Opening}). The server's `emit` is where that is read and
 * where each request is told of, before any listener of the program hears of either: all of it is documented.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { type AddressInfo, type Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { emitIn } from './emit-in.ts'
import { readFirstLine } from './first-line.ts'
import { maxOpening, type Opening, readOpening } from './opening.ts'
import { loopback, presentAddresses } from './tcp-address.ts'

/** Milliseconds that a connection may take to say whose it is. */
const openingTime = 10_000

/** A request of a connection that came there; an upgrade, and CONNECT, have no response. */
export interface ArrivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse | undefined
  readonly socket: Socket
  /** Gives it to the program. */
  readonly next: () => boolean
}

/** Whoever knows what is served there. */
export interface Instance {
  /** `next` gives the connection to the program's server. */
  connected(socket: Socket, opening: Opening, next: () => void): void
  /** Only for connections that {@link connected} was told of. */
  requested(arrived: ArrivedRequest): boolean
}

export interface PrivateListenerOptions {
  readonly path: string
  /** What `server.address()` says. */
  readonly address: AddressInfo | string
  /** Takes connections whose client speaks HTTP/1.1, for a server of HTTP/2. */
  readonly front?: HttpServer | undefined
}

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

export class PrivateListener {
  readonly path: string
  readonly #server: Server
  readonly #front: HttpServer | undefined
  readonly #emit: Emit
  /** Connections of the mesh whose first line has been read. */
  readonly #opened = new WeakSet<Socket>()
  /** Open connections to the private socket. */
  #accepted = 0
  /** Open connections that were given to the server here, and have no such line. Node does not count them. */
  readonly #given = new Set<Socket>()
  /** The server has closed but for those. */
  #isClosed = false
  /** What `server.address()` says. */
  #address: AddressInfo | string
  /** Connections of the mesh that have sent no request yet: the program has not seen them. */
  readonly #unused = new Set<Socket>()
  #instance: Instance | undefined

  /** The caller has the server listen at `path`. */
  constructor(server: Server, { path, address, front }: PrivateListenerOptions) {
    this.path = path
    this.#address = address
    this.#server = server
    this.#front = front
    this.#emit = server.emit.bind(server) as Emit
    const { close, getConnections } = bound(server)
    replaceOwn(server, {
      emit: (event: string | symbol, ...args: unknown[]) => this.#heard(event, args),
      close: (...args: Parameters<typeof close>) => {
        const closing = close(...args)
        for (const socket of this.#unused) socket.destroy()
        return closing
      },
      getConnections: (told: (error: Error | null, count: number) => void) =>
        getConnections((error, count) => told(error, count + this.#given.size)),
      address: () => (server.listening ? this.#address : null),
    })
  }

  /** The server has closed, and its program has it listen once more, at the same path: connections that are still open stay. */
  listenAgain(address: AddressInfo | string): void {
    this.#address = address
    this.#isClosed = false
  }

  /** Connections that come before are closed. */
  serve(instance: Instance): void {
    this.#instance = instance
  }

  /** Gives the server a connection that was accepted elsewhere. */
  accept(socket: Socket): void {
    if (!this.#server.listening) return void socket.destroy()
    // Servers of HTTP have half-open connections, those of TLS have not.
    socket.allowHalfOpen = (this.#server as { allowHalfOpen?: boolean }).allowHalfOpen ?? true
    emitIn(socket, AsyncLocalStorage.snapshot())
    if (this.#count(socket)) this.#emit('connection', socket)
  }

  /** False where the server takes no more; as Node does it with those of the kernel. */
  #count(socket: Socket): boolean {
    const { maxConnections } = this.#server
    if (this.#given.size + this.#accepted >= (maxConnections ?? Infinity)) {
      const { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily } = socket
      this.#emit('drop', { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily })
      socket.destroy()
      return false
    }
    this.#given.add(socket)
    socket.once('close', () => {
      this.#given.delete(socket)
      if (this.#isClosed && this.#given.size === 0) this.#emit('close')
    })
    return true
  }

  async #joinByFirstBytes(socket: Socket, opening: Opening): Promise<void> {
    const first = await firstBytes(socket, preface.length)
    if (!socket.destroyed) this.#join(socket, opening, first.equals(preface))
  }

  #join(socket: Socket, opening: Opening, isHttp2: boolean): void {
    if (this.#instance === undefined) return void socket.destroy()
    this.#opened.add(socket)
    this.#instance.connected(socket, opening, () => this.#give(socket, isHttp2))
  }

  /** Gives the server a connection of the mesh that came another way, whose first bytes are here. */
  take(socket: Socket, opening: Opening): void {
    if (!this.#server.listening) return void socket.destroy()
    if (!this.#count(socket)) return
    if (this.#front === undefined) this.#join(socket, opening, false)
    else void this.#joinByFirstBytes(socket, opening)
  }

  #heard(event: string | symbol, args: unknown[]): boolean {
    switch (event) {
      case 'connection':
        return this.#connected(args[0] as Socket)
      case 'request':
      case 'checkContinue':
      case 'checkExpectation':
        return this.#requested(event, args, args[1] as ServerResponse)
      case 'upgrade':
      case 'connect':
        return this.#requested(event, args, undefined)
      case 'close':
        this.#isClosed = true
        return this.#given.size === 0 && this.#emit('close')
      default:
        return this.#emit(event, ...args)
    }
  }

  #requested(event: string, args: unknown[], response: ServerResponse | undefined): boolean {
    const next = (): boolean => this.#emit(event, ...args)
    const request = args[0] as IncomingMessage
    const { socket } = request
    if (this.#instance === undefined || !this.#opened.has(socket)) return next()
    return this.#instance.requested({ request, response, socket, next })
  }

  #connected(socket: Socket): boolean {
    if (!isOfPath(socket) || this.#opened.has(socket)) return this.#emit('connection', socket)
    this.#accepted++
    socket.once('close', () => this.#accepted--)
    void this.#open(socket)
    return true
  }

  async #open(socket: Socket): Promise<void> {
    const ignore = (): void => {}
    socket.on('error', ignore)
    const line = await readFirstLine(socket, maxOpening, openingTime)
    const opening = line === undefined ? undefined : readOpening(line)
    if (opening === undefined || !this.#server.listening) socket.destroy()
    this.#unused.add(socket)
    const first = await firstBytes(socket, this.#front === undefined ? 1 : preface.length)
    this.#unused.delete(socket)
    socket.off('error', ignore)
    if (opening === undefined || socket.destroyed) return void socket.destroy()
    presentAddresses(socket, { local: loopback(opening.port), remote: loopback(opening.callerPort) })
    this.#join(socket, opening, first.equals(preface))
  }

  /** To a TLS server as a connection whose handshake is done, so that its program answers in plain text. */
  #give(socket: Socket, isHttp2: boolean): void {
    if (this.#front !== undefined && !isHttp2) this.#front.emit('connection', socket)
    else if (this.#server instanceof TlsServer) {
      Object.assign(socket, { alpnProtocol: isHttp2 ? 'h2' : 'http/1.1' })
      this.#emit('secureConnection', socket)
    } else this.#emit('connection', socket)
  }
}

/** Not one that somebody emits (Node documents that of `'connection'`): those have addresses, or are no sockets at all. */
function isOfPath(socket: unknown): boolean {
  return socket instanceof Socket && socket.remoteAddress === undefined
}

function bound(server: Server): Pick<Server, 'close' | 'getConnections'> {
  return { close: server.close.bind(server), getConnections: server.getConnections.bind(server) }
}

function replaceOwn(server: Server, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(server, name, { value, configurable: true, writable: true })
}

/** With what a client of HTTP/2 begins (RFC 9113, 3.4); no method of HTTP/1 has this name. */
const preface = Buffer.from('PRI')

/**
 * The first bytes that come, up to `count`; they stay in the socket. A program sees a connection when its client speaks: one that
 * was opened ahead of need would keep a server from closing that waits for its connections to become idle.
 */
async function firstBytes(socket: Socket, count: number): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let seen = Buffer.alloc(0)
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) seen = Buffer.concat([seen, chunk])
    if (seen.length >= count || (seen.length > 0 && !preface.subarray(0, seen.length).equals(seen))) resolve()
  }
  const over = (): void => resolve()
  socket.on('readable', onReadable).once('end', over).once('close', over)
  if (socket.destroyed) resolve()
  onReadable()
  await promise
  socket.off('readable', onReadable).off('end', over).off('close', over)
  if (seen.length > 0 && !socket.destroyed) socket.unshift(seen)
  return seen.subarray(0, count)
}
