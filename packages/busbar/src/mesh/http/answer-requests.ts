import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { MeshContext } from '../mesh-context.ts'
import type { CallHandler, CallHead } from '../links/link.ts'
import type { LocalEndpoint, TcpEndpoint } from '../routing/endpoint.ts'
import { acceptsCalls, reasonUnreachable } from '../routing/unreachable.ts'
import type { Scope } from '../scope.ts'
import { openConnection } from '../sockets/connect.ts'
import { type Exchange, type ExchangeHandler, type ExchangeRequest, maxForwardedHead } from './exchange.ts'
import { RequestReceiver } from './request-receiver.ts'
import { ResponseSender } from './response-sender.ts'
import { MeasuredExchange } from '../tracing/measured-exchange.ts'
import { readTrace, writeTrace } from '../tracing/trace-headers.ts'
import { TextExchange } from './text-exchange.ts'
import { malformed, readRequest } from './wire.ts'

/**
 * Answers HTTP requests that arrive over a link. Each is made again to the instance in this thread,
 * so that calls between workers support what calls within a thread support.
 */
export function answerRequests(mesh: MeshContext): CallHandler {
  return (head, payload, ended, channel) => {
    const { service, hops } = head
    const endpoint = mesh.router.local(service)
    const request = acceptsCalls(endpoint) ? requestOf(head, payload, ended) : undefined
    if (!acceptsCalls(endpoint) || request === undefined) {
      channel.fail(refusalOf(mesh, service, endpoint).toRecord(), true)
      return {}
    }
    const sender = new ResponseSender(service, channel)
    const exchange =
      openExchange(mesh, endpoint, { head, request, waited: channel.waited }, sender) ??
      openTextExchange(mesh, endpoint, request, { service, hops }, sender)
    const receiver = new RequestReceiver(service, channel, exchange, sender)
    sender.serve(exchange, ended ? undefined : receiver)
    return receiver
  }
}

interface ArrivedCall {
  readonly head: CallHead
  readonly request: ExchangeRequest
  /** Milliseconds, for a limit of the service. */
  readonly waited: number | undefined
}

/**
 * Undefined if only text carries the request exactly. The instance's server then records the
 * answer.
 */
function openExchange(
  { exchanges, meter, tracer }: MeshContext,
  endpoint: LocalEndpoint,
  { head: { service, hops, method, caller }, request, waited }: ArrivedCall,
  sender: ExchangeHandler,
): Exchange | undefined {
  const from = tracer && readTrace(request.rawHeaders)
  if (tracer === undefined || from === undefined) return exchanges?.open(endpoint, request, { service, hops }, sender)
  const { path, body } = request
  const route = meter?.templateOf(service, method, path)
  const kind = { part: 'answer', caller, service, protocol: 'http', method, route, transport: undefined } as const
  const call = tracer.call(kind, path, from)
  call.arrivedBefore(waited)
  const handler = new MeasuredExchange(sender, call, true)
  // An exchange owns its list of fields.
  const rawHeaders = [...request.rawHeaders]
  writeTrace(rawHeaders, call.passedOn)
  const exchange = exchanges?.open(endpoint, { ...request, rawHeaders }, { service, hops, trace: call }, handler)
  if (exchange === undefined) return undefined
  handler.sends(body)
  return handler.over(exchange)
}

/** Answers a request of another app by a program with its own port. */
export function answerAtPort(mesh: MeshContext, endpoint: TcpEndpoint): CallHandler {
  return (head, payload, ended, channel) => {
    const { service, hops } = head
    const request = requestOf(head, payload, ended)
    if (request === undefined) {
      channel.fail(malformed('the request', service).toRecord(), true)
      return {}
    }
    const sender = new ResponseSender(service, channel)
    const exchange = openTextExchange(mesh, endpoint, request, { service, hops }, sender)
    const receiver = new RequestReceiver(service, channel, exchange, sender)
    sender.serve(exchange, ended ? undefined : receiver)
    return receiver
  }
}

function refusalOf({ router }: MeshContext, service: string, endpoint: LocalEndpoint | undefined): BusbarError {
  if (acceptsCalls(endpoint)) return malformed('the request', service)
  return new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
}

/** Undefined for what is no request. */
function requestOf({ method, caller }: CallHead, payload: unknown, ended: boolean): ExchangeRequest | undefined {
  const received = readRequest(payload)
  if (received === undefined) return undefined
  // Only the gateway has no service name.
  const maxResponseHead = caller === undefined ? maxForwardedHead : undefined
  return { method, ...received, streamed: !ended, maxResponseHead }
}

/**
 * Sends a request as HTTP text on a connection to an instance in this thread. This is the fallback
 * without an accelerator, and for servers that turn out to handle the request in a way of their own
 * (a smaller limit, their own parser).
 */
function openTextExchange(
  mesh: MeshContext,
  endpoint: LocalEndpoint | TcpEndpoint,
  request: ExchangeRequest,
  { hops }: Scope,
  handler: ExchangeHandler,
): Exchange {
  const { service } = endpoint
  const createConnection = (): Socket => {
    const origin = { hops, caller: undefined, to: endpoint }
    const socket = openConnection(mesh, service, 80, { allowHalfOpen: true }, origin)
    // Errors after the response are ignored.
    return socket.on('error', () => {})
  }
  return new TextExchange({
    target: { createConnection },
    request,
    handler,
    service,
  })
}
