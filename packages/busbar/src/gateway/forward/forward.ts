import type { IncomingMessage, RequestOptions } from 'node:http'
import { answererAt, type Endpoint, type RemoteEndpoint, type TcpEndpoint } from '../../mesh/routing/endpoint.ts'
import {
  maxForwardedHead,
  type Exchange,
  type ExchangeHandler,
  type ExchangeRequest,
} from '../../mesh/http/exchange.ts'
import { TextExchange } from '../../mesh/http/text-exchange.ts'
import { announcesBody } from '../request-body.ts'
import type { RequestContext } from '../request-context.ts'
import { ForwardedResponse } from './forwarded-response.ts'
import { endToEndHeaders } from './hop-by-hop.ts'
import { RetryingTextExchange } from './retrying-text-exchange.ts'
import { canResend, type ConnectionParts, keepAliveConnection, newConnection } from './service-connections.ts'

export interface ForwardOptions extends ConnectionParts {
  readonly context: RequestContext
  readonly endpoint: Endpoint
  /** No response has begun, and none will. The caller must respond. */
  readonly onLost: (error: Error) => void
}

/**
 * Forwards a request to a service that does not get the gateway's own objects, and forwards its
 * response: first the head, then the body as fast as the receiver reads. Uses an exchange if that
 * carries the request exactly, else HTTP text.
 */
export function forward(options: ForwardOptions): void {
  const { context, route, endpoint, found, onLost } = options
  const { req, res } = context
  const request = toExchangeRequest(req, endpoint)
  const resend = (failed: Exchange): Exchange | undefined =>
    wasReused(failed) && canResend(request) ? openText(options, request, response, connectAnew(options)) : undefined
  const mayClose = (): boolean => endpoint.at !== 'tcp' && endpoint.state !== 'stopped'
  const { edge } = context
  const response = new ForwardedResponse({ service: route.service, req, res, mayClose, onLost, edge, found, resend })
  const exchange = open(options, request, response)
  response.exchange = exchange
  if (request.streamed) sendBody(req, exchange)
  res.once('close', () => {
    // Does nothing unless the client has disconnected or got an early or an error response.
    response.exchange!.abort()
    // Node discards the rest of a body only if nothing has read from it. The next request of the
    // connection comes behind it.
    req.removeAllListeners('data').resume()
  })
}

/** To a command, hop-by-hop headers are removed: clients share the gateway's connections to it. */
function toExchangeRequest(req: IncomingMessage, endpoint: Endpoint): ExchangeRequest {
  return {
    method: req.method!,
    path: req.url!,
    rawHeaders: endpoint.at === 'tcp' ? endToEndHeaders(req.rawHeaders, { keepsFraming: true }) : req.rawHeaders,
    body: null,
    streamed: announcesBody(req),
    httpVersion: req.httpVersionMinor === 0 ? '1.0' : undefined,
    maxResponseHead: maxForwardedHead,
  }
}

function open(options: ForwardOptions, request: ExchangeRequest, response: ForwardedResponse): Exchange {
  const { mesh, route, endpoint } = options
  if (endpoint.at === 'link') {
    const elsewhere = (not: Endpoint): Endpoint | undefined => mesh.router.find(route.service, { not })
    const exchange = mesh.exchanges?.open(endpoint, request, route.scope, response, elsewhere)
    if (exchange !== undefined) return exchange
    if (mesh.streams === undefined) return openRetrying(options, endpoint, request, response)
  }
  if (endpoint.at === 'tcp') return openRetrying(options, endpoint, request, response)
  const connection = keepAliveConnection(options, request, endpoint) ?? connectAnew(options)
  return openText(options, request, response, connection)
}

/**
 * A sticky client stays with its instance. Others get one that serves when the connection is made.
 */
function connectAnew(options: ForwardOptions): RequestOptions {
  return newConnection(options, options.route.sticky && options.endpoint)
}

function openText(
  { route: { service } }: ForwardOptions,
  request: ExchangeRequest,
  handler: ExchangeHandler,
  target: RequestOptions,
): Exchange {
  return new TextExchange({ target, request, handler, service })
}

/** Over a socket. Unlike a link, it does not tell why an instance has ended. */
function openRetrying(
  options: ForwardOptions,
  endpoint: RemoteEndpoint | TcpEndpoint,
  request: ExchangeRequest,
  response: ForwardedResponse,
): Exchange {
  const { mesh, route } = options
  const openTo = (to: Endpoint, handler: ExchangeHandler): Exchange => {
    const connection = keepAliveConnection(options, request, to) ?? newConnection(options, to)
    return openText(options, request, handler, connection)
  }
  return new RetryingTextExchange({
    endpoint,
    request,
    handler: response,
    open: (handler) => openTo(endpoint, handler),
    openElsewhere(handler) {
      const next = mesh.router.find(route.service, { not: endpoint })
      const exchange = next && openTo(next, handler)
      if (exchange !== undefined) response.onRetry(answererAt(next!))
      return exchange
    },
  })
}

function wasReused(exchange: Exchange): boolean {
  return (exchange instanceof TextExchange || exchange instanceof RetryingTextExchange) && exchange.isReused
}

/** Sends the body as fast as the service reads. */
function sendBody(req: IncomingMessage, exchange: Exchange): void {
  req.on('data', (chunk: Buffer) => {
    if (!exchange.write(chunk)) req.pause()
  })
  req.on('end', () => exchange.end(req.rawTrailers))
}
