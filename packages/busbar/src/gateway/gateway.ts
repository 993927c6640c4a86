import { type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { App } from '../config/app.ts'
import { type BusbarError, errorTable } from '../contract/errors.ts'
import { type ConnectionSink, toConnectionSink } from '../mesh/sockets/connection-sink.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import type { WorkerCells } from '../shared/metrics/worker-cells.ts'
import type { GrpcCarrier } from '../shared/grpc-carrier.ts'
import type { LogRecord, StopTimes, TlsMaterial } from '../shared/control-messages.ts'
import { Connections } from './connections.ts'
import { forward } from './forward/forward.ts'
import { prepareRequest } from './forward/prepare-request.ts'
import { KeepAliveAgent } from './forward/service-connections.ts'
import type { GrpcEntrance } from './grpc/grpc-entrance.ts'
import { handleExpect, type Handover } from './handover.ts'
import { InFlightRequests } from './in-flight-requests.ts'
import { OpenApiPages } from './openapi/openapi-pages.ts'
import { sendProblem } from './problems/send-problem.ts'
import {
  type ClientError,
  clientErrorProblem,
  failureProblem,
  malformed,
  noResponse,
  stopping,
  tooLarge,
} from './problems/gateway-problems.ts'
import type { Problem } from './problems/problem.ts'
import type { Probes } from './probes.ts'
import { limitUnknownLength } from './request-body.ts'
import { RequestContext, type RequestEvent, type Target } from './request-context.ts'
import { RequestRouter } from './routing/request-router.ts'
import { type Redirect, redirectOf } from './redirect.ts'
import { addField } from './response-fields.ts'
import { createServer, type GatewayServer, isHttp2 } from './server.ts'
import { Upgrades } from './upgrades.ts'

/** From the mesh: what counts and measures requests, and what carries them. */
type MeshParts = Pick<MeshContext, 'router' | 'meter' | 'tracer' | 'exchanges' | 'streams'>

export interface GatewayParts extends MeshParts {
  readonly app: App
  /** Undefined serves plain HTTP. */
  readonly tls: TlsMaterial | undefined
  readonly log: (level: LogRecord['level'], line: string) => void
  /** Counters of requests in flight and closed connections. */
  readonly cells?: Pick<WorkerCells, 'addInFlight' | 'countClosed'>
  readonly handover?: Handover | undefined
  /** Undefined if the gateway answers no probes. */
  readonly probes?: Probes | undefined
  /** Undefined if the gateway serves no gRPC. */
  readonly grpc?: GrpcEntrance | undefined
}

/** The public entrance of the app in one worker. */
export interface Gateway {
  /** Accepts a connection that has not been read from. After {@link stop}, closes it at once. */
  accept(socket: Socket): void
  /** Accepts a connection of the native entrance, also after {@link stop}: its client is old. */
  acceptVirtual(socket: Socket): void
  /** Serves a gRPC call of the native entrance. Undefined if the gateway serves none. */
  readonly serveCall: ((carrier: GrpcCarrier) => void) | undefined
  /** Accepts connections in clear. Undefined if the app has no port for that. */
  readonly redirect: ConnectionSink | undefined
  /** Applies to later connections. */
  readonly setTls: (tls: TlsMaterial) => void
  /**
   * Responds with 502 to every request (of one service, or all) without a response. Truncates the
   * responses that have begun.
   */
  fail(error: BusbarError, service?: string): void
  /** Half of the connections of HTTP/1 end with their next response, which says so. */
  shareConnections(): void
  /**
   * Drains: responds to requests in flight and to new ones with `connection: close`, closes idle
   * connections, and destroys the rest when the time is over. Closes WebSockets of services
   * elsewhere if `times` says so, and leaves all other upgraded connections to their programs.
   */
  stop(times: StopTimes): Promise<void>
  /** Destroys every connection, upgraded ones included. */
  destroy(): void
  readonly connections: number
  readonly inFlight: number
}

export function createGateway(parts: GatewayParts): Gateway {
  return new HttpGateway(parts)
}

/**
 * Requests in flight per connection. A client that pipelines more without reading the responses is
 * disconnected after these.
 */
const maxPipelined = 1000

class HttpGateway implements Gateway {
  readonly #parts: GatewayParts
  readonly #server: GatewayServer['server']
  readonly setTls: GatewayServer['setTls']
  /** Set in every response over TLS. */
  readonly #hsts: string | undefined
  readonly redirect: Redirect | undefined
  readonly #router: RequestRouter
  readonly #mesh: MeshContext
  readonly #inFlight: InFlightRequests
  readonly #agent = new KeepAliveAgent()
  readonly #connections: Connections
  readonly #sink: ConnectionSink
  readonly #upgrades: Upgrades
  readonly #openapi: OpenApiPages | undefined
  #stopped: Promise<void> | undefined

  constructor(parts: GatewayParts) {
    const { app, router, tls, cells, meter, tracer, exchanges, streams } = parts
    this.#parts = parts
    this.#mesh = { router, maxHops: app.limits.maxHops, meter, tracer, exchanges, streams }
    this.#router = new RequestRouter(app, router)
    const { openapi } = app.gateway
    const { routes } = this.#router
    this.#openapi = openapi && new OpenApiPages(openapi, app, { routes, mesh: this.#mesh, log: parts.log })
    this.#inFlight = new InFlightRequests({
      responseTimeout: app.limits.responseTimeout,
      all: () => this.#connections.requests(),
      onOverdue: (context) => context.connection.failRequest(this.#reportTimeout(context.service), context),
      onCount: (by) => cells?.addInFlight(by),
      meter,
      tracer,
    })
    this.#connections = new Connections({
      onClosed: (connection) => connection.requests.forEach((context) => this.#inFlight.end(context)),
      onSocketClosed: () => cells?.countClosed(),
    })
    this.#upgrades = new Upgrades({
      router: this.#router,
      connections: this.#connections,
      mesh: this.#mesh,
      handover: parts.handover,
      app,
      responseTimeout: app.limits.responseTimeout,
      overdue: (service) => this.#reportTimeout(service),
    })
    const options = { shouldUpgradeCallback: (req: IncomingMessage) => this.#upgrades.wants(req) }
    const created = createServer(app.limits, tls, options, parts.grpc !== undefined)
    ;({ server: this.#server, setTls: this.setTls } = created)
    this.#hsts = app.gateway.tls?.hsts
    this.redirect = redirectOf(app)
    this.#listen(tls !== undefined)
    const http1 = toConnectionSink(this.#server)
    this.#sink = (tls === undefined && parts.grpc?.inClear(this.#connections, http1)) || http1
  }

  get connections(): number {
    return this.#connections.size
  }

  get inFlight(): number {
    return this.#inFlight.size + (this.#parts.grpc?.inFlight ?? 0)
  }

  accept(socket: Socket): void {
    this.#sink.accept(socket)
  }

  acceptVirtual(socket: Socket): void {
    // With redirects, only their port is in clear.
    if (this.redirect === undefined || 'encrypted' in socket) this.#server.emit('connection', socket)
    else this.redirect.accept(socket)
  }

  get serveCall(): Gateway['serveCall'] {
    return this.#parts.grpc?.servesCalls(this.redirect !== undefined)
  }

  fail(error: BusbarError, service?: string): void {
    const code = error.status === 502 ? error.code : 'SERVICE_HANGUP'
    for (const context of this.#connections.requests())
      if (service === undefined || context.service === service)
        context.connection.failRequest(noResponse(context.service, code), context)
    this.#upgrades.fail(code, service)
    this.#parts.grpc?.fail(error, service)
  }

  shareConnections(): void {
    this.#connections.share()
  }

  stop(times: StopTimes): Promise<void> {
    return (this.#stopped ??= this.#stop(times))
  }

  destroy(): void {
    this.#stopListening()
    this.#inFlight.stopWatching()
    this.#connections.destroy()
    this.#agent.destroy()
    this.redirect?.close()
    this.#parts.grpc?.destroy()
    this.#server.close()
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#stopListening()
    const webSockets = times.webSockets && this.#upgrades.closeWebSockets(times.webSockets)
    const calls = this.#parts.grpc?.stop(times)
    await this.#connections.drain(times, (connection) => connection.failNext(stopping))
    await Promise.all([webSockets, calls])
    this.#inFlight.stopWatching()
    this.#agent.destroy()
    // Not earlier: this also stops Node's checks of header timeouts.
    this.#server.close()
  }

  /** Bypasses `http.Server#close`, which would do more: see {@link Connections.drain}. */
  #stopListening(): void {
    NetServer.prototype.close.call(this.#server)
  }

  #listen(secure: boolean): void {
    const server = this.#server
    server.on('connection', (socket: Socket) => this.#connections.addSocket(socket, secure))
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => this.#begin(socket, secure))
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const)
      server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#serve(event, req, res))
    server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => this.#upgrades.open(req, socket, head))
    server.on('connect', (_req: IncomingMessage, socket: Socket) => this.#rejectTunnel(socket))
    server.on('clientError', (error: ClientError, socket) => this.#onClientError(error, socket as Socket))
  }

  #begin(socket: Socket, secure: boolean): void {
    if (socket.destroyed) return // Its certificate was refused.
    if (secure && isHttp2(socket)) this.#parts.grpc?.acceptSecure(this.#connections, socket)
    else this.#connections.add(socket)
  }

  #serve(event: RequestEvent, req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#connections.of(req.socket)
    // After `connection: close`, requests are ignored (RFC 9112, 9.6): none could be answered.
    if (connection === undefined || connection.state !== 'open') return
    if (connection.inFlight === maxPipelined) return connection.finishUnread()
    const context = new RequestContext(event, req, res, connection)
    if (this.#hsts !== undefined) addField(res, 'strict-transport-security', this.#hsts, 'unless-set')
    this.#inFlight.begin(context)
    if (this.#connections.ends(connection)) connection.finish()
    if (this.#parts.probes?.matches(req) === true) return this.#parts.probes.answer(req, res)
    if (this.#openapi?.matches(req) === true) return void this.#openapi.answer(context, () => this.#route(context))
    this.#route(context)
  }

  #route(context: RequestContext): void {
    const { req, res, connection } = context
    const result = this.#router.route(req)
    context.path = req.url!
    if (result.problem !== undefined) {
      // After a malformed request, the start of the next one cannot be trusted.
      if (result.problem.code === 'REQUEST_MALFORMED' || req.headers.upgrade !== undefined) connection.finish()
      return sendProblem(req, res, result.problem, context.path)
    }
    if (result.setCookie !== undefined) addField(res, 'set-cookie', result.setCookie, 'beside')
    const { maxBodySize } = this.#parts.app.limits
    this.#inFlight.routed(context, result)
    prepareRequest(req, result)
    limitUnknownLength(req, maxBodySize, () => connection.failRequest(tooLarge(maxBodySize), context))
    this.#deliver(context, result)
  }

  #deliver(context: RequestContext, { route, endpoint }: Target): void {
    const { handover } = this.#parts
    if (endpoint.at === 'here' && endpoint.requestListener !== undefined) {
      if (handleExpect(context)) endpoint.requestListener(context.req, context.res)
    } else if (endpoint.at === 'here' && handover?.accepts(endpoint) === true) {
      this.#inFlight.handedOver(context, endpoint.count)
      handover.request(context, endpoint, context.enter(route.scope))
    } else {
      const onLost = (error: Error): void => this.#failForwarded(context, route.service, error)
      forward({ mesh: this.#mesh, context, route, endpoint, agent: this.#agent, onLost })
    }
  }

  /** A service elsewhere has not responded, and will not. */
  #failForwarded(context: RequestContext, service: string, error: Error): void {
    const { req, res, connection, path } = context
    const problem = failureProblem(error, service)
    if (errorTable[problem.code].status === 503) sendProblem(req, res, problem, path)
    else connection.failRequest(problem, context)
  }

  #rejectTunnel(socket: Socket): void {
    const connection = this.#connections.of(socket)
    if (connection === undefined) socket.destroy()
    else connection.rejectTunnel(malformed('CONNECT is not supported'))
  }

  #onClientError(error: ClientError, socket: Socket): void {
    const problem = clientErrorProblem(error, this.#parts.app.limits)
    const connection = this.#connections.of(socket)
    if (problem === undefined || connection === undefined) socket.destroy(error)
    else connection.rejectInput(problem)
  }

  #reportTimeout(service: string | undefined): Problem {
    const { responseTimeout } = this.#parts.app.limits
    const detail = `Service '${service}' did not begin its response within ${responseTimeout} ms`
    this.#parts.log('warn', detail)
    return { code: 'RESPONSE_TIMEOUT', detail, more: { service } }
  }
}
