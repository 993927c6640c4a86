import { isUtf8 } from 'node:buffer'
import { channel } from 'node:diagnostics_channel'
import { Server } from 'node:http'
import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { HttpHandler, RoutedRequest } from '../../contract/http/http-handler.ts'
import { failure, type StartedCall } from '../../contract/http/responder.ts'
import type { Meter } from '../../mesh/meter.ts'
import type { Router } from '../../mesh/routing/router.ts'
import type { HttpCarrier } from '../../shared/entrance/http-carrier.ts'
import type { OwnResponses } from '../problems/own-responses.ts'
import type { Problem } from '../problems/problem.ts'
import { stopping } from '../problems/gateway-problems.ts'
import { ResponseTimeout } from '../response-timeout.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import { checkPath } from '../routing/request-target.ts'
import { stripPrefix } from '../../shared/strip-prefix.ts'
import type { GatewayRoute, Routes } from '../routing/routes.ts'
import { CarriedCall, type CallOwner } from './carried-call.ts'
import { FieldLines } from './field-lines.ts'
import { ResponseWriter } from './response-text.ts'

export interface CarriedParts {
  readonly app: Pick<App, 'gateway' | 'limits' | 'services'>
  readonly routes: Routes
  readonly router: Router
  readonly meter: Meter | undefined
  /** True if the gateway may answer the request itself, such as a probe. */
  readonly isOwn: (request: { readonly method: string; readonly url: string }) => boolean
  /** One more or one less is in flight. */
  readonly onCount: (by: 1 | -1) => void
  readonly overdue: (service: string) => Problem
  readonly responses: OwnResponses
}

/** Programs that watch Node's server see every request, and its response. */
const watched = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish'].map(
  (name) => channel(name),
)

/**
 * Calls of typed services in this worker, by requests that the native entrance has read: without
 * Node's parser, request and response, which cost more than the call. Whatever is unusual about a
 * request is left to Node's server, before anything has been done with it; so is every request of
 * an app with traces.
 */
export class CarriedCalls implements CallOwner {
  readonly writer: ResponseWriter
  readonly responses: OwnResponses
  isStopping = false
  readonly #parts: CarriedParts
  readonly #fields = new FieldLines()
  /** Those that were not answered at once. */
  readonly #waiting = new Set<CarriedCall>()
  readonly #timeout: ResponseTimeout
  #size = 0
  #onEmpty: (() => void) | undefined

  constructor(parts: CarriedParts) {
    const { limits, gateway } = parts.app
    this.#parts = parts
    this.responses = parts.responses
    this.writer = new ResponseWriter(gateway.cors ?? [], limits.keepAliveTimeout)
    this.#timeout = new ResponseTimeout(limits.responseTimeout, () => this.#findOverdue())
  }

  get size(): number {
    return this.#size
  }

  /** Returns false if Node's server has to answer it. */
  serve(carrier: HttpCarrier): boolean {
    const { method, url } = carrier
    const { limits } = this.#parts.app
    if (this.isStopping || method === 'HEAD' || carrier.headLength > limits.maxHeaderSize / 2) return false
    if (url.charCodeAt(0) !== slash || checkPath(url) !== undefined || this.#parts.isOwn(carrier)) return false
    if (watched.some(({ hasSubscribers }) => hasSubscribers) || Object.hasOwn(Server.prototype, 'emit')) return false
    const fields = this.#fields.read(carrier.fields)
    const route = fields && this.#parts.routes.find(fields.host, url)
    const handler = route && this.#handlerOf(route)
    if (handler === undefined || carrier.bodyLength > handler.maxInputSize) return false
    const headers = { ...fields!.headers }
    forwarded(headers, carrier, route!)
    const routed = find(handler, { verb: method, url: stripPrefix(url, route!.strippedPrefix), headers })
    if (routed === undefined || routed.hosted.spec.kind !== 'fn') return false
    const body = carrier.bodyLength === 0 ? undefined : carrier.body
    if (body !== undefined && !isUtf8(body)) return false
    this.#begin(carrier, route!, handler, routed, body?.toString())
    return true
  }

  ended(call: CarriedCall): void {
    this.#waiting.delete(call)
    this.#parts.onCount(-1)
    if (--this.#size === 0) this.#onEmpty?.()
  }

  /** Ends the calls in flight. Their responses count as incomplete. */
  fail(problemOf: (service: string) => Problem): void {
    for (const call of this.#waiting) call.refuse(problemOf(call.service), noStatus)
  }

  /** New requests are left to Node's server. Resolves when those in flight are answered. */
  async stop(timeout: number): Promise<void> {
    this.isStopping = true
    const limit = setTimeout(() => this.#waiting.forEach((call) => call.refuse(stopping)), timeout)
    if (this.#size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
    clearTimeout(limit)
    this.#timeout.stop()
  }

  destroy(): void {
    this.isStopping = true
    this.#timeout.stop()
    for (const call of this.#waiting) call.destroy()
  }

  /** Of a typed service that the route leads to in this worker, for every client. */
  #handlerOf(route: GatewayRoute): HttpHandler | undefined {
    if (route.needsClientCertificate || route.sticky !== undefined) return undefined
    const endpoint = this.#parts.router.find(route.service)
    return endpoint?.at === 'here' ? endpoint.httpHandler : undefined
  }

  #begin(
    carrier: HttpCarrier,
    route: GatewayRoute,
    handler: HttpHandler,
    routed: RoutedRequest,
    body: string | undefined,
  ): void {
    const { service } = route
    const edge = this.#parts.meter?.arriving(route, carrier.method, 'local', carrier.url)
    const call = new CarriedCall(carrier, this, service, routed.request.headers['origin'] as string | undefined, edge)
    this.#size++
    this.#parts.onCount(1)
    const refuse = (thrown: unknown): void => call.answer(failure(BusbarError.from(thrown)))
    let started: StartedCall | Promise<StartedCall>
    try {
      started = handler.begin(routed, body, call)
    } catch (thrown) {
      return refuse(thrown)
    }
    if (started instanceof Promise) started.then((known) => call.started(known)).catch(refuse)
    else if (!call.isOver) call.started(started)
    if (!call.isOver) this.#await(call, carrier)
  }

  #await(call: CarriedCall, carrier: HttpCarrier): void {
    call.since = this.#timeout.now
    carrier.onClosed = () => call.closed()
    this.#waiting.add(call)
  }

  #findOverdue(): void {
    for (const call of this.#waiting)
      if (this.#timeout.isOver(call.since)) call.refuse(this.#parts.overdue(call.service))
  }
}

const slash = 0x2f

/** Undefined too where the service has no such method, which its own listener words. */
function find(handler: HttpHandler, head: RoutedRequest['request']): RoutedRequest | undefined {
  try {
    return handler.find(head)
  } catch {
    return undefined
  }
}

/** As `prepareRequest` adds them to a request of Node's server. */
function forwarded(headers: Record<string, string>, carrier: HttpCarrier, { strippedPrefix }: GatewayRoute): void {
  headers['x-forwarded-for'] = carrier.remoteAddress
  headers['x-forwarded-proto'] = carrier.isEncrypted ? 'https' : 'http'
  headers['x-forwarded-host'] = headers['host']!
  if (strippedPrefix !== '') headers['x-forwarded-prefix'] = strippedPrefix
}
