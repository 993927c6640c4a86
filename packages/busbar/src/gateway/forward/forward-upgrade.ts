import http, { STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import { encodeHead, sendRawHead } from '../../mesh/http/raw-head.ts'
import type { MeshContext } from '../../mesh/mesh-context.ts'
import type { Endpoint, LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import { whenStalled } from '../connection.ts'
import type { Handover } from '../handover.ts'
import { announcesBody } from '../request-body.ts'
import type { GatewayRoute } from '../routing/routes.ts'
import { endToEndHeaders } from './hop-by-hop.ts'
import { lossOfWorker } from './lost-instance.ts'
import { openConnection } from './service-connections.ts'

/** Saved before programs start: what a program puts in its place is for the program's own calls. */
const { request } = http

/**
 * True if the service accepts the upgrade; otherwise Node treats it as an ordinary request. A
 * service elsewhere decides when it gets the request. Refused without asking: HTTP/2, which clients
 * offer with any request and Node's servers do not accept (RFC 9113 has dropped it), and requests
 * that have a body or are HTTP/1.0 (RFC 9110, 7.8).
 */
export function acceptsUpgrade(req: IncomingMessage, endpoint: Endpoint, handover: Handover | undefined): boolean {
  if (announcesBody(req) || req.httpVersionMinor === 0 || req.headers.upgrade?.toLowerCase() === 'h2c') return false
  if (endpoint.at === 'tcp') return true
  if (endpoint.at === 'link') return !endpoint.typed
  return endpoint.typed === undefined && programAcceptsUpgrade(req, endpoint, handover)
}

/**
 * Node's default for `shouldUpgradeCallback`. A server with its own callback decides when the
 * request is forwarded to it.
 */
function programAcceptsUpgrade(req: IncomingMessage, endpoint: LocalEndpoint, handover: Handover | undefined): boolean {
  if (handover?.accepts(endpoint) === true) return handover.wantsUpgrade(req, endpoint)
  return endpoint.server.listenerCount('upgrade') > 0
}

export interface ForwardedUpgrade {
  readonly mesh: MeshContext
  readonly route: GatewayRoute
  readonly endpoint: Endpoint
  readonly req: IncomingMessage
  readonly socket: Socket
  /** What the client sent after its request. */
  readonly head: Buffer
  readonly onAnswered: () => void
  /** The service has not responded, or not in HTTP. */
  readonly onLost: (error: Error) => void
}

/**
 * Forwards an upgrade over a mesh connection of its own. Once the service has accepted, bytes are
 * passed on in both directions. Any other response is forwarded and ends the connection: later
 * requests of the client would not have been routed.
 */
export function forwardUpgrade(upgrade: ForwardedUpgrade): void {
  const { mesh, route, endpoint, req, socket, head, onAnswered, onLost } = upgrade
  const outgoing = sendRequest(mesh, route, endpoint, req)
  let isAnswered = false
  const giveUp = (): void => void outgoing.destroy()
  // Node's server has released the socket. A client that resets it must not end the worker.
  socket.on('error', () => {})
  // It finishes without a response of the service if the gateway has responded.
  for (const event of ['finish', 'close']) socket.once(event, giveUp)
  outgoing.on('upgrade', (response, upstream, upstreamHead) => {
    isAnswered = true
    onAnswered()
    for (const event of ['finish', 'close']) socket.off(event, giveUp)
    socket.write(headText(response, response.rawHeaders), 'latin1')
    if (upstreamHead.length > 0) socket.write(upstreamHead)
    if (head.length > 0) upstream.write(head)
    pipeBoth(socket, upstream)
  })
  outgoing.on('response', (response) => {
    if (!socket.writable) return giveUp()
    isAnswered = true
    onAnswered()
    if (response.statusCode! >= 200) return forwardRefusal(response, socket)
    giveUp()
    onLost(notFinal(route.service))
  })
  outgoing.on('error', (error) => {
    if (isAnswered) return
    if (socket.writable) void reportLoss(endpoint, error, onLost)
    else socket.destroy()
  })
  outgoing.end()
}

/** The link to another worker tells whether that has died. */
async function reportLoss(endpoint: Endpoint, error: Error, onLost: (error: Error) => void): Promise<void> {
  const lost = endpoint.at === 'link' ? await lossOfWorker(endpoint.link) : undefined
  onLost(lost === undefined ? error : restoreError(lost))
}

function notFinal(service: string): BusbarError {
  const message = `service '${service}' ended its answer with a status below 200, which is never the last`
  return new BusbarError('ANSWER_MALFORMED', { message, service })
}

function sendRequest(mesh: MeshContext, route: GatewayRoute, endpoint: Endpoint, req: IncomingMessage): ClientRequest {
  const head = encodeHead({
    method: req.method!,
    path: req.url!,
    rawHeaders: req.rawHeaders,
    httpVersion: req.httpVersionMinor === 0 ? '1.0' : '1.1',
  })
  // A sticky client stays with its instance, wherever that is, and a WebSocket ends with its
  // command.
  const to = endpoint.at !== 'here' || route.sticky !== undefined ? endpoint : undefined
  const createConnection = (): Socket => openConnection(mesh, route, to)
  const outgoing = request({ createConnection, setHost: false, method: req.method })
  sendRawHead(outgoing, head)
  return outgoing
}

/** Forwards a response other than 101. */
function forwardRefusal(response: IncomingMessage, socket: Socket): void {
  const fields = endToEndHeaders(response.rawHeaders, { keepsFraming: false })
  socket.write(headText(response, [...fields, 'Connection', 'close']), 'latin1')
  response.once('error', () => socket.destroy())
  response.pipe(socket)
  // What the client still sends is discarded. After its end, a client that does not read must not
  // keep the connection open forever.
  const hasEnded = (): void => whenStalled(socket, () => socket.destroy())
  if (socket.readableEnded) hasEnded()
  else socket.resume().once('end', hasEnded)
}

function pipeBoth(one: Socket, other: Socket): void {
  pipe(one, other)
  pipe(other, one)
}

/** Passes on the bytes of `from` and the way it ends: half-closed, closed or reset. */
function pipe(from: Socket, to: Socket): void {
  from.pipe(to)
  from.once('error', () => to.resetAndDestroy())
  // Nobody is left to read what `to` still sends.
  from.once('close', () => (from.readableEnded ? to.destroySoon() : to.destroy()))
}

function headText({ statusCode = 0, statusMessage }: IncomingMessage, fields: readonly string[]): string {
  const lines = fields.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return `HTTP/1.1 ${statusCode} ${statusMessage ?? STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n`
}
