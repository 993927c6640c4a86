import { Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIPv6, Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import type { Address, App } from '../config/app.ts'
import type { BusbarError } from '../contract/errors.ts'
import { isChosen } from '../shared/accelerators.ts'
import { takeConnections } from '../mesh/listener.ts'
import type { Exchanges } from '../mesh/http/exchange.ts'
import type { ConnectionTaker } from '../mesh/sockets/given-connections.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import type { Meter } from '../mesh/meter.ts'
import type { Router } from '../mesh/router.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type { LogRecord, StopTimes, TlsMaterial } from '../shared/control.ts'
import { answerProblem } from './answer.ts'
import { Arrivals, type ArrivalsParts } from './arrivals.ts'
import { limitUnknownLength } from './body-limit.ts'
import { problemOf, type ClientError } from './client-error.ts'
import { Connections } from './connections.ts'
import { Director, malformed, prepare, tooLarge, unavailable } from './director.ts'
import { Flights, type Flight } from './flights.ts'
import { forward } from './forward.ts'
import {
  handOver,
  handOverUpgrade,
  takesOurObjects,
  takesUpgrade,
  type RequestEvent,
  type UpgradeChooser,
} from './handover.ts'
import { OpenApiPages } from './openapi/openapi.ts'
import { relayUpgrade } from './relay-upgrade.ts'
import { problemText, type Problem } from './problem.ts'
import { requestedPath } from './requested-path.ts'
import type { Reply } from './reply.ts'
import { hangUp, lossOf, stopping, unreadable } from './lost.ts'
import { createServer, idleTimeOf, keepAliveLine, secureContext } from './server.ts'
import { PlainCalls } from './typed/plain-calls.ts'

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
  readonly #flights: Flights
  readonly #agent = new Agent({ keepAlive: true })
  readonly #connections: Connections
  readonly #listener: ConnectionTaker
  readonly #openapi: OpenApiPages | undefined
  readonly #arrivals: ArrivalsParts
  readonly #plainCalls: PlainCalls
  #stopped: Promise<void> | undefined

  constructor(parts: GatewayParts) {
    const { app, router, tls, cells, meter, exchanges } = parts
    this.#parts = parts
    this.#mesh = { router, maxHops: app.limits.maxHops, meter, exchanges }
    this.#director = new Director(app.gateway, app.limits, router)
    const { openapi } = app.gateway
    const { routes } = this.#director
    this.#openapi = openapi && new OpenApiPages(openapi, app, { routes, mesh: this.#mesh, log: parts.log })
    this.#flights = new Flights({
      responseTimeout: app.limits.responseTimeout,
      onOverdue: (flight) => this.#breakOffOverdue(flight),
      onCount: (by) => cells?.addInFlight(by),
      meter,
    })
    this.#connections = new Connections({
      onHangUp: (res) => this.#hungUp(res),
      onClosed: (connection) => connection.inFlight > 0 && this.#flights.drop(connection),
      onSocketClosed: () => cells?.countClosed(),
    })
    this.#server = createServer(app.limits, tls)
    this.#plainCalls = new PlainCalls({
      director: this.#director,
      flights: this.#flights,
      passes: (req) => this.#connections.draining || this.#openapi?.takes(req) === true,
      keepAlive: keepAliveLine(app.limits),
    })
    this.#arrivals = {
      take: (req, arrivals) => this.#plainCalls.take(req, arrivals),
      idleTime: idleTimeOf(this.#server),
    }
    this.#hear(tls !== undefined)
    this.#listener = takeConnections(this.#server, addressInfo(app.gateway))
  }

  get connections(): number {
    return this.#connections.size
  }

  get inFlight(): number {
    return this.#flights.size
  }

  accept(socket: Socket): void {
    this.#listener.accept(socket)
  }

  setTls(tls: TlsMaterial): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(secureContext(tls))
  }

  fail(error: BusbarError, service?: string): void {
    const code = error.status === 502 ? error.code : 'SERVICE_HANGUP'
    for (const flight of this.#flights.all())
      if (service === undefined || flight.service === service)
        flight.connection.breakOff(hangUp(flight.service, code), flight.reply)
  }

  stop(times: StopTimes): Promise<void> {
    return (this.#stopped ??= this.#stop(times))
  }

  destroy(): void {
    this.#stopListening()
    this.#flights.stopWatching()
    this.#connections.cut()
    this.#agent.destroy()
    this.#server.close()
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#stopListening()
    await this.#connections.drain(times, (connection) => connection.breakOffHead(stopping))
    this.#flights.stopWatching()
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
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      const connection = this.#connections.add(socket)
      if (isChosen('plain-calls')) Arrivals.watch(connection, this.#arrivals)
    })
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
      server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#serve(event, req, res))
    ;(server as Partial<UpgradeChooser>).shouldUpgradeCallback = (req) => this.#wantsUpgrade(req)
    server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => this.#upgrade(req, socket, head))
    server.on('connect', (_req: IncomingMessage, socket: Socket) => refuse(socket, malformed('it asks for a tunnel')))
    server.on('clientError', (error: ClientError, socket) => this.#onClientError(error, socket as Socket))
  }

  #serve(event: RequestEvent, req: IncomingMessage, res: ServerResponse): void {
    if (this.#plainCalls.adopts(req, res)) return
    const connection = this.#connections.of(req.socket)
    // A connection that has announced its end takes no more: nobody would get the answer (RFC 9112, 9.6).
    if (connection === undefined || connection.state !== 'open') return
    const flight = this.#flights.begin(req, res, connection)
    if (this.#connections.draining || connection.inFlight > maxPipelined) connection.finish()
    if (this.#openapi?.takes(req) === true)
      return void this.#openapi.answer(req, res, () => this.#route(event, flight, res))
    this.#route(event, flight, res)
  }

  #route(event: RequestEvent, flight: Flight, res: ServerResponse): void {
    const { req, connection } = flight
    const direction = this.#director.direct(req)
    if (direction.problem !== undefined) {
      // Who sends what is no request is not trusted with where the next one begins.
      if (direction.problem.code === 'REQUEST_MALFORMED') connection.finish()
      return answerProblem(req, res, direction.problem, requestedPath(req))
    }
    const { way, endpoint } = direction
    const { maxBodySize } = this.#parts.app.limits
    this.#flights.routed(flight, way.service)
    prepare(req, way)
    limitUnknownLength(req, maxBodySize, () => connection.breakOff(tooLarge(maxBodySize), res))
    if (takesOurObjects(endpoint)) {
      this.#flights.handedOver(flight, endpoint.count)
      return handOver(endpoint, way, event, req, res)
    }
    const onLost = (error: Error): void => this.#lost(flight, res, way.service, error)
    forward({ mesh: this.#mesh, way, endpoint, req, res, agent: this.#agent, onLost })
  }

  /** A service elsewhere has given no answer, and will not. */
  #lost({ req, connection }: Flight, res: ServerResponse, service: string, error: Error): void {
    const { status, code } = lossOf(error)
    if (status === 503) answerProblem(req, res, { ...unavailable(service), code }, requestedPath(req))
    else connection.breakOff(code === 'ANSWER_MALFORMED' ? unreadable(service) : hangUp(service, code), res)
  }

  /** As Node decides it, but for the service's own server: without an `upgrade` listener there, it is a plain request. */
  #wantsUpgrade(req: IncomingMessage): boolean {
    if (this.#connections.of(req.socket)?.state !== 'open') return false
    const direction = this.#director.direct(req)
    return direction.problem === undefined && takesUpgrade(direction.endpoint, req)
  }

  #upgrade(req: IncomingMessage, socket: Socket, head: Buffer): void {
    const direction = this.#director.direct(req)
    const connection = this.#connections.of(socket)
    if (direction.problem !== undefined || connection === undefined)
      return refuse(socket, direction.problem ?? stopping)
    const { way, endpoint } = direction
    connection.state = 'upgraded'
    this.#connections.settle()
    prepare(req, way, true)
    if (endpoint.at === 'here' && isChosen('handover')) handOverUpgrade(endpoint, way, req, socket, head)
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

  #onClientError(error: ClientError, socket: Socket): void {
    const problem = problemOf(error, this.#parts.app.limits)
    const connection = this.#connections.of(socket)
    if (problem === undefined || connection === undefined) socket.destroy(error)
    else connection.breakOffBadInput(problem)
  }

  #hungUp(res: Reply): Problem | undefined {
    const flight = this.#flights.of(res)
    return flight?.service === undefined ? undefined : hangUp(flight.service, 'SERVICE_HANGUP')
  }

  #breakOffOverdue({ service, connection, reply }: Flight): void {
    connection.breakOff(this.#overdue(service), reply)
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

function addressInfo({ host, port }: Address): AddressInfo {
  return { address: host, port, family: isIPv6(host) ? 'IPv6' : 'IPv4' }
}
