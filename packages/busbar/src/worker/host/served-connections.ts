import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { ownConnection } from '../../mesh/http/exchange.ts'
import { type Metered, RequestMeter } from './request-meter.ts'

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

/** The connections of a service's servers, and what is being answered on each: Node says neither. */
export class ServedConnections {
  readonly #open = new Map<Socket, ServedConnection>()
  readonly #watched = new WeakSet<Server>()
  readonly #secured: (connection: ServedConnection) => void

  /** `secured` gets each connection whose TLS handshake is done: requests come on that one, not on the one beneath. */
  constructor(secured: (connection: ServedConnection) => void = () => {}) {
    this.#secured = secured
  }

  /** `emit` is where each request is seen before any listener of the program has it. */
  watch(server: Server): void {
    if (this.#watched.has(server)) return
    this.#watched.add(server)
    server.on('connection', (socket: Socket) => void this.add(socket))
    server.on('secureConnection', (socket: Socket) => this.#secured(this.add(socket)))
    const emit = server.emit.bind(server) as Emit
    const value = (event: string | symbol, ...args: unknown[]): boolean => {
      const [request, response] = args
      if (withResponse.has(event)) this.#began(request as IncomingMessage, response as ServerResponse)
      else if (event === 'upgrade' || event === 'connect') this.#began(request as IncomingMessage, undefined)
      return args.length === 2 ? emit(event, request, response) : emit(event, ...args)
    }
    Object.defineProperty(server, 'emit', { value, configurable: true, writable: true })
  }

  /** Also before its server has it. */
  add(socket: Socket): ServedConnection {
    const known = this.#open.get(socket)
    if (known !== undefined) return known
    const connection = new ServedConnection(socket)
    this.#open.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    return connection
  }

  /** Cuts all of them. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  /** Those that clients keep. */
  *kept(): Generator<ServedConnection> {
    for (const [socket, connection] of this.#open) if (!(ownConnection in socket)) yield connection
  }

  #began(request: IncomingMessage, response: ServerResponse | undefined): void {
    // Requests of HTTP/2 share a connection, which its own server ends.
    if (request.httpVersionMajor === 1) this.#open.get(request.socket)?.began(response)
  }
}

const withResponse = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation'])

export class ServedConnection {
  readonly socket: Socket
  #meter: RequestMeter | undefined
  /** Of the request that came last: HTTP/1 answers in order. Undefined before the first, and after an upgrade. */
  #last: ServerResponse | undefined

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Its requests are counted and measured, as long as they are HTTP/1. */
  meter(what: Metered): void {
    this.#meter = new RequestMeter(this.socket, what)
  }

  began(response: ServerResponse | undefined): void {
    this.#last = response
    this.#meter?.began(response)
  }

  /** It speaks HTTP/1, or has not said yet what it speaks, and nothing is being answered on it. */
  get waitsForRequest(): boolean {
    return this.#last === undefined ? this.socket.bytesRead === 0 : this.#last.writableFinished
  }
}
