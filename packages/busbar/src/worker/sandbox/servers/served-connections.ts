import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Session, ServerHttp2Stream } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { chosenPerRequest, dedicatedConnection } from '../../../mesh/http/exchange.ts'
import { makeLast } from '../../../mesh/http/last-response.ts'
import { currentScope, runInScope, type Scope } from '../../../mesh/scope.ts'
import { emitInContext } from '../../../mesh/tracing/traced-request.ts'
import { emitOf } from '../../../mesh/sockets/instance/server-emit.ts'
import { WebSockets } from '../../../mesh/sockets/web-socket.ts'
import { Http2Sessions } from './http2-sessions.ts'
import { type Metered, RequestMeter } from './request-meter.ts'

/** The open connections of a service's servers, and the response that is pending on each. */
export class ServedConnections {
  readonly webSockets = new WebSockets()
  readonly sessions = new Http2Sessions()
  readonly #open = new Map<Socket, ServedConnection>()
  readonly #watched = new WeakSet<Server>()
  readonly #secured: (connection: ServedConnection) => void

  /**
   * `secured` is called with each TLS connection after its handshake: requests arrive on that one.
   */
  constructor(secured: (connection: ServedConnection) => void = () => {}) {
    this.#secured = secured
  }

  /** Replaces the server's `emit`, to see each request before any listener of the program. */
  watch(server: Server): void {
    if (this.#watched.has(server)) return
    this.#watched.add(server)
    server.on('connection', (socket: Socket) => void this.add(socket))
    server.on('secureConnection', (socket: Socket) => this.#secured(this.add(socket)))
    const emit = emitOf(server)
    const value = (event: string | symbol, ...args: unknown[]): boolean => {
      const [request, response] = args
      let scope: Scope | undefined
      if (withResponse.has(event)) scope = this.#began(request as IncomingMessage, response as ServerResponse)
      else if (event === 'upgrade' || event === 'connect') scope = this.#began(request as IncomingMessage, undefined)
      else if (event === 'session') this.sessions.add(request as Http2Session)
      else if (event === 'stream') {
        if (this.sessions.delays(request as ServerHttp2Stream, () => void emit(event, ...args))) return true
      }
      // Also of a connection that the gateway has handed over.
      if (event === 'upgrade') this.webSockets.addIf(request as IncomingMessage, response as Socket)
      if (scope !== undefined) return emitTraced(request as IncomingMessage, scope, () => emit(event, ...args))
      return args.length === 2 ? emit(event, request, response) : emit(event, ...args)
    }
    Object.defineProperty(server, 'emit', { value, configurable: true, writable: true })
  }

  /** May be called before the server gets the connection. */
  add(socket: Socket): ServedConnection {
    const known = this.#open.get(socket)
    if (known !== undefined) return known
    const connection = new ServedConnection(socket)
    this.#open.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    return connection
  }

  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  /**
   * Every other connection of HTTP/1 ends with its next response. A gateway shares its requests
   * without that, and its client would lose a connection.
   */
  share(): void {
    const reusable = [...this.reusable()].filter(({ socket }) => !(chosenPerRequest in socket))
    for (const [at, connection] of reusable.entries()) if (at % 2 === 0) connection.leave()
  }

  /** The connections that clients may reuse, without those that the mesh opens for one exchange. */
  *reusable(): Generator<ServedConnection> {
    for (const [socket, connection] of this.#open) if (!(dedicatedConnection in socket)) yield connection
  }

  /** Returns the scope of a request that is traced here. */
  #began(request: IncomingMessage, response: ServerResponse | undefined): Scope | undefined {
    // HTTP/2 servers end their connections themselves.
    return request.httpVersionMajor === 1 ? this.#open.get(request.socket)?.began(request, response) : undefined
  }
}

const withResponse = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation'])

function emitTraced(request: IncomingMessage, scope: Scope, emit: () => boolean): boolean {
  emitInContext(request, (callback) => runInScope(scope, callback))
  return runInScope(scope, emit)
}

export class ServedConnection {
  readonly socket: Socket
  #meter: RequestMeter | undefined
  /**
   * The response to the last request: HTTP/1 answers in order. Undefined before the first request
   * and after an upgrade.
   */
  #last: ServerResponse | undefined
  #leaves = false

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Counts and measures its HTTP/1 requests from now on. */
  meter(what: Metered): void {
    this.#meter = new RequestMeter(this.socket, what)
  }

  began(request: IncomingMessage, response: ServerResponse | undefined): Scope | undefined {
    this.#last = response
    if (this.#leaves) this.endWithResponse()
    const trace = this.#meter?.began(request, response)
    return trace && { ...currentScope()!, trace }
  }

  /** From now on, a response ends the connection. */
  leave(): void {
    this.#leaves = true
    this.endWithResponse()
  }

  /** The pending response says `connection: close`, unless its head was sent. */
  endWithResponse(): void {
    if (this.#last?.headersSent === false) makeLast(this.#last)
  }

  /** The pending response leaves it open: another request may follow. */
  get staysOpen(): boolean {
    return this.#last !== undefined && !this.#last.writableFinished && this.#last.shouldKeepAlive
  }

  /** True for an HTTP/1 connection without a pending response, or one that has sent nothing yet. */
  get waitsForRequest(): boolean {
    return this.#last === undefined ? this.socket.bytesRead === 0 : this.#last.writableFinished
  }
}
