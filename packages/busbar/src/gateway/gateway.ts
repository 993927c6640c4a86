import { type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { BusbarError } from '../contract/errors.ts'
import { type ConnectionSink, toConnectionSink } from '../mesh/sockets/instance/connection-sink.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import type { ServeRequest } from '../shared/entrance/http-carrier.ts'
import type { StopTimes, WebSocketClose } from '../shared/time/stop-times.ts'
import { rejectBadInput } from './bad-input.ts'
import { Connections } from './connections.ts'
import { Delivery } from './delivery.ts'
import { prepareRequest } from './forward/prepare-request.ts'
import type { Gateway, GatewayParts } from './gateway-types.ts'
import { InFlightRequests } from './in-flight-requests.ts'
import { OpenApiPages } from './openapi/openapi-pages.ts'
import { noResponse, stopping, tooLarge } from './problems/gateway-problems.ts'
import { OwnResponses } from './problems/own-responses.ts'
import type { Problem } from './problems/problem.ts'
import { limitUnknownLength } from './request-body.ts'
import { RequestContext, type RequestEvent } from './request-context.ts'
import { RequestRouter } from './routing/request-router.ts'
import { type Redirect, redirectOf } from './redirect.ts'
import { addField } from './response-fields.ts'
import { createServer, type GatewayServer, isHttp2 } from './server.ts'
import { CarriedCalls } from './typed/carried-calls.ts'
import { RouteCors } from './typed/route-cors.ts'
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
  readonly #responses: OwnResponses
  readonly #delivery: Delivery
  readonly #cors: RouteCors
  readonly #connections: Connections
  readonly #sink: ConnectionSink
  readonly #upgrades: Upgrades
  readonly #openapi: OpenApiPages | undefined
  #carried: CarriedCalls | undefined
  /** The native entrance answers what is in flight. */
  #isLeft = false
  #stopped: Promise<void> | undefined

  constructor(parts: GatewayParts) {
    const { app, router, tls, cells, meter, tracer, exchanges, streams, handover } = parts
    this.#parts = parts
    const origins = app.gateway.cors ?? []
    const responses = new OwnResponses({
      origins,
      onRefused: (reason) => void (this.#isLeft || parts.refusals?.count(reason)),
    })
    this.#responses = responses
    this.#cors = new RouteCors(app)
    this.#mesh = { router, maxHops: app.limits.maxHops, meter, tracer, exchanges, streams }
    this.#router = new RequestRouter(app, router)
    const { openapi } = app.gateway
    const { routes } = this.#router
    const mesh = this.#mesh
    this.#openapi = openapi && new OpenApiPages(openapi, app, { routes, mesh, log: parts.log }, responses)
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
    const requests = (): Iterable<RequestContext> => this.#connections.requests()
    this.#delivery = new Delivery({ mesh, handover, inFlight: this.#inFlight, responses, requests })
    this.#connections = new Connections({
      responses,
      onClosed: (connection) => connection.requests.forEach((context) => this.#inFlight.end(context)),
      onSocketClosed: () => cells?.countClosed(),
    })
    this.#upgrades = new Upgrades({
      router: this.#router,
      connections: this.#connections,
      mesh,
      handover,
      app,
      responses,
      responseTimeout: app.limits.responseTimeout,
      overdue: (service) => this.#reportTimeout(service),
    })
    const options = { shouldUpgradeCallback: (req: IncomingMessage) => this.#upgrades.wants(req) }
    const created = createServer(app.limits, tls, options, parts.grpc !== undefined)
    ;({ server: this.#server, setTls: this.setTls } = created)
    this.#hsts = app.gateway.tls?.hsts
    this.redirect = redirectOf(app, responses)
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

  fail(error: BusbarError, isLeft = false): void {
    this.#isLeft = isLeft
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
    this.#delivery.destroy()
    this.redirect?.close()
    this.#parts.grpc?.destroy()
    this.#server.close()
  }

  closeWebSockets(close: WebSocketClose): Promise<void> {
    return this.#upgrades.closeWebSockets(close)
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#stopListening()
    const webSockets = times.webSockets && this.closeWebSockets(times.webSockets)
    const calls = [this.#parts.grpc?.stop(times), this.#carried?.stop(times.timeout)]
    await this.#connections.drain(times, (connection) => connection.failNext(stopping))
    await Promise.all([webSockets, ...calls])
    this.#inFlight.stopWatching()
    this.#delivery.destroy()
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
      responses: this.#responses,
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
    rejectBadInput(server, this.#connections, this.#parts.app.limits)
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
      if (this.#cors.answersPreflight(req, res, result.unserved)) return
      return this.#responses.send(req, res, problem, context.path)
    }
    if (result.setCookie !== undefined) addField(res, 'set-cookie', result.setCookie, 'beside')
    const { maxBodySize } = this.#parts.app.limits
    this.#inFlight.routed(context, result)
    prepareRequest(req, result)
    this.#cors.addTo(req, res, result)
    limitUnknownLength(req, maxBodySize, () => connection.failRequest(tooLarge(maxBodySize), context))
    this.#delivery.deliver(context, result)
  }

  #reportTimeout(service: string | undefined): Problem {
    const { responseTimeout } = this.#parts.app.limits
    const detail = `Service '${service}' did not begin its response within ${responseTimeout} ms`
    this.#parts.log('warn', detail)
    return { code: 'RESPONSE_TIMEOUT', detail, more: { service } }
  }
}
