import { type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { App } from '../config/app.ts'
import type { BusbarError } from '../contract/errors.ts'
import type { Exchanges } from '../mesh/http/exchange.ts'
import { type ConnectionTaker, giveConnections } from '../mesh/sockets/given-connections.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import type { Meter } from '../mesh/meter.ts'
import type { Router } from '../mesh/router.ts'
import type { Streams } from '../mesh/streams.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type { LogRecord, StopTimes, TlsMaterial } from '../shared/control.ts'
import { answerProblem } from './answer.ts'
import { limitUnknownLength } from './body-limit.ts'
import { problemOf, type ClientError } from './client-error.ts'
import { Connections } from './connections.ts'
import { Director, malformed, prepare, tooLarge, unavailable } from './director.ts'
import { forward } from './forward.ts'
import { meetExpectation } from './expectation.ts'
import type { Handover } from './handover.ts'
import { InFlightRequests } from './in-flight.ts'
import { KeptAgent } from './kept-agent.ts'
import { OpenApiPages } from './openapi/openapi.ts'
import { relayUpgrade } from './relay-upgrade.ts'
import { problemText, type Problem } from './problem.ts'
import { RequestContext, type RequestEvent, type Target } from './request-context.ts'
import { hangUp, lossOf, stopping, unreadable } from './lost.ts'
import { createServer, secureContext } from './server.ts'
import { takesUpgrade } from './takes-upgrade.ts'

export interface GatewayParts {
  readonly app: App
  readonly router: Router
  /** Undefined serves plain HTTP. */
  readonly tls: TlsMaterial | undefined
  readonly log: (level: LogRecord['level'], line: string) => void
  /** Where requests in flight and closed connections are counted, if anywhere. */
  readonly cells?: Pick<WorkerCells, 'addInFlight' | 'countClosed'>
  /** How long requests take is written down by it; undefined where nobody asks. */
  readonly meter?: Meter | undefined
  /** By which requests go to other workers without text, if by any. */
  readonly exchanges?: Exchanges | undefined
  readonly handover?: Handover | undefined
  /** Undefined where all connections are sockets of the system's. */
  readonly streams?: Streams | undefined
}

/** The public entrance, as it stands in one worker. */
export interface Gateway {
  /** Takes a connection that nobody has read from; closes it at once after {@link stop}. */
  accept(socket: Socket): void
  /** For connections that come from now on. */
  setTls(tls: TlsMaterial): void
  /** Answers 502 to every request (of one service, or all) that has no answer yet, and cuts the answers that have begun. */
  fail(error: BusbarError, service?: string): void
  /**
   * Answers what is in flight and what still comes with `connection: close`, closes connections that are quiet, and
   * cuts the rest in time. Upgraded ones are not waited for: they are their program's to close.
   */
  stop(times: StopTimes): Promise<void>
  /** Cuts every connection, upgraded ones too. */
  destroy(): void
  readonly connections: number
  readonly inFlight: number
}

export function createGateway(parts: GatewayParts): Gateway {
  return new HttpGateway(parts)
}

/** Requests that one connection may have in flight: who pipelines more without reading the answers is cut off. */
const maxPipelined = 1000

class HttpGateway implements Gateway {
  readonly #parts: GatewayParts
  readonly #server: ReturnType<typeof createServer>
  readonly #director: Director
  readonly #mesh: HttpMesh
  readonly #inFlight: InFlightRequests
  readonly #agent = new KeptAgent()
  readonly #connections: Connections
  readonly #listener: ConnectionTaker
  readonly #openapi: OpenApiPages | undefined
  #stopped: Promise<void> | undefined

  constructor(parts: GatewayParts) {
    const { app, router, tls, cells, meter, exchanges, streams } = parts
    this.#parts = parts
    this.#mesh = { router, maxHops: app.limits.maxHops, meter, exchanges, streams }
    this.#director = new Director(app.gateway, app.limits, router)
    const { openapi } = app.gateway
    const { routes } = this.#director
    this.#openapi = openapi && new OpenApiPages(openapi, app, { routes, mesh: this.#mesh, log: parts.log })
    this.#inFlight = new InFlightRequests({
      responseTimeout: app.limits.responseTimeout,
      all: () => this.#connections.requests(),
      onOverdue: (context) => context.connection.breakOff(this.#overdue(context.service), context),
      onCount: (by) => cells?.addInFlight(by),
      meter,
    })
    this.#connections = new Connections({
      onClosed: (connection) => connection.requests.forEach((context) => this.#inFlight.end(context)),
      onSocketClosed: () => cells?.countClosed(),
    })
    this.#server = createServer(app.limits, tls, { shouldUpgradeCallback: (req) => this.#wantsUpgrade(req) })
    this.#hear(tls !== undefined)
    this.#listener = giveConnections(this.#server)
  }

  get connections(): number {
    return this.#connections.size
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  accept(socket: Socket): void {
    this.#listener.accept(socket)
  }

  setTls(tls: TlsMaterial): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(secureContext(tls))
  }

  fail(error: BusbarError, service?: string): void {
    const code = error.status === 502 ? error.code : 'SERVICE_HANGUP'
    for (const context of this.#connections.requests())
      if (service === undefined || context.service === service)
        context.connection.breakOff(hangUp(context.service, code), context)
  }

  stop(times: StopTimes): Promise<void> {
    return (this.#stopped ??= this.#stop(times))
  }

  destroy(): void {
    this.#stopListening()
    this.#inFlight.stopWatching()
    this.#connections.cut()
    this.#agent.destroy()
    this.#server.close()
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#stopListening()
    await this.#connections.drain(times, (connection) => connection.breakOffHead(stopping))
    this.#inFlight.stopWatching()
    this.#agent.destroy()
    // Only now: this also ends Node's watch over header timeouts.
    this.#server.close()
  }

  /** Past `http.Server#close`, which would do more: see {@link Connections.drain}. */
  #stopListening(): void {
    NetServer.prototype.close.call(this.#server)
  }

  #hear(secure: boolean): void {
    const server = this.#server
    server.on('connection', (socket: Socket) => this.#connections.addSocket(socket, secure))
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => void this.#connections.add(socket))
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
      server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#serve(event, req, res))
    server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => this.#upgrade(req, socket, head))
    server.on('connect', (_req: IncomingMessage, socket: Socket) => this.#refuseTunnel(socket))
    server.on('clientError', (error: ClientError, socket) => this.#onClientError(error, socket as Socket))
  }

  #serve(event: RequestEvent, req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#connections.of(req.socket)
    // A connection that has announced its end takes no more: nobody would get the answer (RFC 9112, 9.6).
    if (connection === undefined || connection.state !== 'open') return
    const context = new RequestContext(event, req, res, connection)
    this.#inFlight.begin(context)
    if (this.#connections.draining || connection.inFlight > maxPipelined) connection.finish()
    if (this.#openapi?.takes(req) === true) return void this.#openapi.answer(context, () => this.#route(context))
    this.#route(context)
  }

  #route(context: RequestContext): void {
    const { req, res, connection } = context
    const direction = this.#director.direct(req)
    context.path = req.url!
    if (direction.problem !== undefined) {
      // Who sends what is no request is not trusted with where the next one begins.
      if (direction.problem.code === 'REQUEST_MALFORMED') connection.finish()
      return answerProblem(req, res, direction.problem, context.path)
    }
    const { maxBodySize } = this.#parts.app.limits
    this.#inFlight.routed(context, direction)
    prepare(req, direction)
    limitUnknownLength(req, maxBodySize, () => connection.breakOff(tooLarge(maxBodySize), context))
    this.#deliver(context, direction)
  }

  #deliver(context: RequestContext, target: Target): void {
    const { way, endpoint } = target
    const { handover } = this.#parts
    if (endpoint.at === 'here' && endpoint.answers !== undefined) {
      if (meetExpectation(context)) endpoint.answers(context.req, context.res)
    } else if (endpoint.at === 'here' && handover?.takes(endpoint) === true) {
      this.#inFlight.handedOver(context, endpoint.count)
      handover.request(context, endpoint, way.scope)
    } else {
      const onLost = (error: Error): void => this.#lost(context, way.service, error)
      forward({ mesh: this.#mesh, context, target, agent: this.#agent, onLost })
    }
  }

  /** A service elsewhere has given no answer, and will not. */
  #lost(context: RequestContext, service: string, error: Error): void {
    const { req, res, connection, path } = context
    const { status, code } = lossOf(error)
    if (status === 503) answerProblem(req, res, { ...unavailable(service), code }, path)
    else connection.breakOff(code === 'ANSWER_MALFORMED' ? unreadable(service) : hangUp(service, code), context)
  }

  /** As Node decides it, but for the service's own server: without an `upgrade` listener there, it is a plain request. */
  #wantsUpgrade(req: IncomingMessage): boolean {
    if (this.#connections.of(req.socket)?.state !== 'open') return false
    const direction = this.#director.direct(req)
    return direction.problem === undefined && takesUpgrade(req, direction.endpoint, this.#parts.handover)
  }

  #upgrade(req: IncomingMessage, socket: Socket, head: Buffer): void {
    const direction = this.#director.direct(req)
    const connection = this.#connections.of(socket)
    if (direction.problem !== undefined || connection === undefined)
      return refuse(socket, direction.problem ?? stopping)
    const { way, endpoint } = direction
    connection.state = 'upgraded'
    this.#connections.settle()
    prepare(req, direction, true)
    const { handover } = this.#parts
    if (endpoint.at === 'here' && handover?.takes(endpoint) === true)
      handover.upgrade(req, socket, head, endpoint, way.scope)
    else
      relayUpgrade({
        mesh: this.#mesh,
        way,
        req,
        socket,
        head,
        responseTimeout: this.#parts.app.limits.responseTimeout,
        onLost: () => refuse(socket, hangUp(way.service, 'SERVICE_HANGUP')),
        onUnreadable: () => refuse(socket, unreadable(way.service)),
        onOverdue: () => refuse(socket, this.#overdue(way.service)),
      })
  }

  #refuseTunnel(socket: Socket): void {
    const connection = this.#connections.of(socket)
    if (connection === undefined) socket.destroy()
    else connection.breakOffTunnel(malformed('it asks for a tunnel'))
  }

  #onClientError(error: ClientError, socket: Socket): void {
    const problem = problemOf(error, this.#parts.app.limits)
    const connection = this.#connections.of(socket)
    if (problem === undefined || connection === undefined) socket.destroy(error)
    else connection.breakOffBadInput(problem)
  }

  #overdue(service: string | undefined): Problem {
    const { responseTimeout } = this.#parts.app.limits
    const detail = `Service "${service}" did not begin to answer within ${responseTimeout} ms`
    this.#parts.log('warn', detail)
    return { code: 'RESPONSE_TIMEOUT', detail, more: { service } }
  }
}

/** For sockets that are no longer HTTP's. */
function refuse(socket: Socket, problem: Problem): void {
  socket.on('error', () => socket.destroy())
  socket.end(problemText(problem, undefined), () => socket.destroy())
}
