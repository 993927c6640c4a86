import { type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { type BusbarError, errorTable } from '../contract/errors.ts'
import { type ConnectionSink, toConnectionSink } from '../mesh/sockets/connection-sink.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import { noWorker } from '../shared/metrics/worker-pair.ts'
import type { ServeRequest } from '../shared/http-carrier.ts'
import type { StopTimes } from '../shared/stop-times.ts'
import { Connections } from './connections.ts'
import { forward } from './forward/forward.ts'
import { prepareRequest } from './forward/prepare-request.ts'
import { KeepAliveAgent } from './forward/service-connections.ts'
import type { Gateway, GatewayParts } from './gateway-types.ts'
import { handleExpect } from './handover.ts'
import { InFlightRequests } from './in-flight-requests.ts'
import { OpenApiPages } from './openapi/openapi-pages.ts'
import { sendProblem } from './problems/send-problem.ts'
import {
  type ClientError,
  clientErrorProblem,
  failureProblem,
  malformed,
  noResponse,
  methodOf,
  stopping,
  tooLarge,
} from './problems/gateway-problems.ts'
import type { Problem } from './problems/problem.ts'
import { limitUnknownLength } from './request-body.ts'
import { RequestContext, type RequestEvent, type Target } from './request-context.ts'
import { RequestRouter } from './routing/request-router.ts'
import { type Redirect, redirectOf } from './redirect.ts'
import { addField } from './response-fields.ts'
import { createServer, type GatewayServer, isHttp2 } from './server.ts'
import { CarriedCalls } from './typed/carried-calls.ts'
import { Upgrades } from './upgrades.ts'

export type { Gateway, GatewayParts } from './gateway-types.ts'

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
  #carried: CarriedCalls | undefined
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
      isCommand: (service) => app.services.some(({ name, kind }) => name === service && kind === 'command'),
      handover: parts.handover,
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
    return this.#inFlight.size + (this.#parts.grpc?.inFlight ?? 0) + (this.#carried?.size ?? 0)
  }

  accept(socket: Socket): void {
    this.#sink.accept(socket)
  }

  acceptVirtual(socket: Socket): void {
    // With redirects, only their port is in clear.
    if (this.redirect !== undefined && !('encrypted' in socket)) return this.redirect.accept(socket)
    this.#server.emit('connection', socket)
    const connection = this.#connections.of(socket)
    if (connection !== undefined) connection.isVirtual = true
  }

  get serveCall(): Gateway['serveCall'] {
    return this.#parts.grpc?.servesCalls(this.redirect !== undefined)
  }

  get serveRequest(): ServeRequest | undefined {
    if (!this.#carries()) return undefined
    const carried = (this.#carried ??= this.#openCarried())
    // With redirects, only their port is in clear.
    return (carrier) => (this.redirect === undefined || carrier.isEncrypted) && carried.serve(carrier)
  }

  fail(error: BusbarError): void {
    const code = error.status === 502 ? error.code : 'SERVICE_HANGUP'
    for (const context of this.#connections.requests())
      context.connection.failRequest(noResponse(context.service, code), context)
    this.#upgrades.fail(code)
    this.#carried?.fail((service) => noResponse(service, code))
    this.#parts.grpc?.fail(error)
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
    this.#carried?.destroy()
    this.#agent.destroy()
    this.redirect?.close()
    this.#parts.grpc?.destroy()
    this.#server.close()
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#stopListening()
    const webSockets = times.webSockets && this.#upgrades.closeWebSockets(times.webSockets)
    const calls = [this.#parts.grpc?.stop(times), this.#carried?.stop(times.timeout)]
    await this.#connections.drain(times, (connection) => connection.failNext(stopping))
    await Promise.all([webSockets, ...calls])
    this.#inFlight.stopWatching()
    this.#agent.destroy()
    // Not earlier: this also stops Node's checks of header timeouts.
    this.#server.close()
  }

  /** What these add to a response or to a request is left to Node's server. */
  #carries(): boolean {
    const { app, tracer } = this.#parts
    return tracer === undefined && this.#hsts === undefined && app.services.some(({ kind }) => kind === 'typed')
  }

  #openCarried(): CarriedCalls {
    const { app, router, meter, probes, cells } = this.#parts
    return new CarriedCalls({
      app,
      routes: this.#router.routes,
      router,
      meter,
      isOwn: (request) => probes?.matches(request) === true || this.#openapi?.knows(request) === true,
      onCount: (by) => cells?.addInFlight(by),
      overdue: (service) => this.#reportTimeout(service),
    })
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
    if (this.#connections.ends(connection) || this.#upgrades.endsConnection(req, connection)) connection.finish()
    if (this.#parts.probes?.matches(req) === true) return this.#parts.probes.answer(req, res)
    if (this.#openapi?.matches(req) === true) return void this.#openapi.answer(context, () => this.#route(context))
    this.#route(context)
  }

  #route(context: RequestContext): void {
    const { req, res, connection } = context
    const result = this.#router.route(req)
    context.path = req.url!
    if (result.problem !== undefined) {
      const problem = this.#inFlight.unserved(context, result.unserved) ?? result.problem
      // After a malformed request, the start of the next one cannot be trusted.
      if (result.problem.code === 'REQUEST_MALFORMED' || req.headers.upgrade !== undefined) connection.finish()
      return sendProblem(req, res, problem, context.path)
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
      this.#inFlight.handedOver(context, endpoint)
      handover.request(context, endpoint, context.enter(route.scope))
    } else {
      const onLost = (error: Error): void => this.#failForwarded(context, route.service, error)
      const found = (callee: number | undefined): void => void (context.callee = callee)
      forward({ mesh: this.#mesh, context, route, endpoint, found, agent: this.#agent, onLost })
    }
  }

  /** A service elsewhere has not responded, and will not. */
  #failForwarded(context: RequestContext, service: string, error: Error): void {
    const { req, res, connection, path } = context
    const problem = failureProblem(error, service)
    if (errorTable[problem.code].status === 503) {
      context.callee = noWorker
      sendProblem(req, res, problem, path)
    } else connection.failRequest(problem, context)
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
    else connection.rejectInput(problem, methodOf(error))
  }

  #reportTimeout(service: string | undefined): Problem {
    const { responseTimeout } = this.#parts.app.limits
    const detail = `Service '${service}' did not begin its response within ${responseTimeout} ms`
    this.#parts.log('warn', detail)
    return { code: 'RESPONSE_TIMEOUT', detail, more: { service } }
  }
}
