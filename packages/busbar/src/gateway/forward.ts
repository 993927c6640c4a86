import type { IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Endpoint, RemoteEndpoint } from '../mesh/endpoint.ts'
import { maxForwardedHead, type Exchange, type ExchangeHandler, type ExchangeRequest } from '../mesh/http/exchange.ts'
import { closedByProgram } from '../mesh/http/errors.ts'
import { TextExchange } from '../mesh/http/text-exchange.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import { openConnection as connectTo } from '../mesh/streams.ts'
import { endToEnd } from './end-to-end.ts'
import { ForwardedAnswer } from './forwarded-answer.ts'
import type { Kept, KeptAgent } from './kept-agent.ts'
import { RepeatedText } from './repeated-text.ts'
import type { RequestContext, Target } from './request-context.ts'
import type { Way } from './routes.ts'

/** Where a request is forwarded to, and from whom. */
export interface Forwarded {
  readonly mesh: HttpMesh
  readonly context: RequestContext
  readonly target: Target
  /** Keeps connections that are sockets of the system's; those in memory cost nothing to make. */
  readonly agent: KeptAgent
  /** No answer has begun, and none will; the response is the caller's to make. */
  readonly onLost: (error: Error) => void
}

/**
 * Takes a request to a service that does not get our own objects, and its answer back: its head,
 * then whatever comes of its body, as fast as the service reads. By an exchange where that does it
 * exactly, else as text.
 */
export function forward(forwarded: Forwarded): void {
  const { context, target, onLost } = forwarded
  const { req, res } = context
  const { way, endpoint } = target
  const request = requestOf(req, endpoint)
  const again = (failed: Exchange): Exchange | undefined =>
    mayRepeat(failed, request) ? openText(forwarded, request, answer, toNew(forwarded)) : undefined
  const mayClose = endpoint.at !== 'tcp'
  const answer = new ForwardedAnswer({ service: way.service, req, res, mayClose, onLost, again })
  const exchange = open(forwarded, request, answer)
  answer.exchange = exchange
  if (request.streamed) send(req, exchange)
  // The caller gave up, or was given an answer: so does the service's.
  res.once('close', () => answer.exchange!.abort())
}

/** The connection to a command is the gateway's own, and goes on for other clients. */
function requestOf(req: IncomingMessage, endpoint: Endpoint): ExchangeRequest {
  return {
    method: req.method!,
    path: req.url!,
    rawHeaders: endpoint.at === 'tcp' ? endToEnd(req.rawHeaders, { anew: false }) : req.rawHeaders,
    body: null,
    streamed: hasBody(req),
    httpVersion: req.httpVersionMinor === 0 ? '1.0' : undefined,
    maxAnswerHead: maxForwardedHead,
  }
}

function open(forwarded: Forwarded, request: ExchangeRequest, answer: ForwardedAnswer): Exchange {
  const { mesh, target } = forwarded
  const { way, endpoint } = target
  if (endpoint.at === 'link') {
    const elsewhere = (not: Endpoint): Endpoint | undefined => mesh.router.find(way.service, { not })
    const exchange = mesh.exchanges?.open(endpoint, request, way.scope, answer, elsewhere)
    if (exchange !== undefined) return exchange
    if (mesh.streams === undefined) return openRepeated(forwarded, endpoint, request, answer)
  }
  return openText(forwarded, request, answer, toKept(forwarded, request, endpoint) ?? toNew(forwarded))
}

function openText(
  { target: { way } }: Forwarded,
  request: ExchangeRequest,
  handler: ExchangeHandler,
  to: RequestOptions,
): Exchange {
  return new TextExchange({ target: to, request, handler, hungUp: () => closedByProgram(way.service, request) })
}

/** Over a private socket, which says less of its instance's end than a link. */
function openRepeated(
  forwarded: Forwarded,
  endpoint: RemoteEndpoint,
  request: ExchangeRequest,
  answer: ForwardedAnswer,
): Exchange {
  const { mesh } = forwarded
  const { way } = forwarded.target
  const openTo = (to: Endpoint, handler: ExchangeHandler): Exchange =>
    openText(forwarded, request, handler, toKept(forwarded, request, to) ?? toNew(forwarded, to))
  return new RepeatedText({
    endpoint,
    request,
    handler: answer,
    open: (handler) => openTo(endpoint, handler),
    openElsewhere(handler) {
      const next = mesh.router.find(way.service, { not: endpoint })
      return next && openTo(next, handler)
    },
  })
}

/** Methods that change nothing. */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Its server may close a kept connection just when it is to be used again (RFC 9112, 9.3.1). */
function mayRepeat(failed: Exchange, { streamed, method }: ExchangeRequest): boolean {
  const isReused = (failed instanceof TextExchange || failed instanceof RepeatedText) && failed.isReused
  return isReused && !streamed && safe.has(method)
}

/** A connection that is kept, where a request may be made again if that has just closed. */
function toKept(forwarded: Forwarded, request: ExchangeRequest, to: Endpoint): RequestOptions | undefined {
  const { mesh, agent, target } = forwarded
  if (request.streamed || !safe.has(request.method)) return undefined
  if (to.at === 'tcp') return { agent, host: to.host, port: to.port }
  const path = to.at === 'here' ? to.listener?.path : to.path
  if (path === undefined || mesh.streams !== undefined) return undefined
  const kept: Kept = { name: path, connect: () => openConnection(mesh, target.way, to) }
  return { agent, ...kept }
}

/** No agent at all: one would keep the connection for itself, and make it its own way. */
function toNew({ mesh, target: { way } }: Forwarded, to?: Endpoint): RequestOptions {
  return { createConnection: () => openConnection(mesh, way, to) }
}

/** `to`: an instance that was chosen already. */
export function openConnection(mesh: HttpMesh, { service, scope }: Way, to?: Endpoint): Socket {
  const origin = { hops: scope.hops, caller: undefined, to }
  // Node's client hears of its errors, and only as long as it has the connection: one that comes
  // behind the answer is nobody's.
  return connectTo(mesh, service, 80, { allowHalfOpen: true }, origin).on('error', () => {})
}

/** As fast as the service reads. */
function send(req: IncomingMessage, exchange: Exchange): void {
  req.on('data', (chunk: Buffer) => {
    if (!exchange.write(chunk)) req.pause()
  })
  req.on('end', () => exchange.end(req.rawTrailers))
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}
