import {
  request,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { connectToService } from '../mesh/bytes/connect.ts'
import type { Endpoint, TcpEndpoint } from '../mesh/endpoint.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import { endToEnd, pairs } from './end-to-end.ts'
import type { Way } from './routes.ts'

/** Where a request is relayed to, and from whom. */
export interface Relayed {
  readonly mesh: HttpMesh
  readonly way: Way
  readonly endpoint: Endpoint
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Keeps connections to commands; all others cost nothing to make. */
  readonly agent: Agent
  /** The service hung up before it had begun to answer. */
  readonly onLost: (error: Error) => void
}

/**
 * Takes a request to its service as HTTP text, which its own server reads anew: over a byte stream of the mesh to servers
 * that make request and response objects of classes of their own, and to a command over its port.
 */
export function relay(relayed: Relayed): void {
  const { req, res, endpoint } = relayed
  const isRepeatable = endpoint.at === 'tcp' && !hasBody(req) && safe.has(req.method!)
  const target = isRepeatable ? toKept(relayed.agent, endpoint) : toNew(relayed)
  send(relayed, target, (error, isReused) => {
    if (res.headersSent) res.destroy()
    // The command has closed a kept connection just when it was to be used again (RFC 9112, 9.3.1).
    else if (isReused && isRepeatable && !res.destroyed) send(relayed, toNew(relayed), relayed.onLost)
    else relayed.onLost(error)
  })
}

/** Methods that change nothing. */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

function toKept(agent: Agent, { host, port }: TcpEndpoint): RequestOptions {
  return { agent, host, port }
}

/** No agent at all: one would keep the connection for itself, and make it its own way. */
function toNew({ mesh, way }: Relayed): RequestOptions {
  return { createConnection: () => openConnection(mesh, way.service) }
}

function send({ req, res }: Relayed, target: RequestOptions, onError: (error: Error, isReused: boolean) => void): void {
  const outgoing = request({
    ...target,
    setHost: false,
    method: req.method,
    path: req.url,
    headers: endToEnd(req.rawHeaders),
  })
  outgoing.useChunkedEncodingByDefault = hasBody(req)
  outgoing.on('continue', () => res.writeContinue())
  outgoing.on('information', ({ statusCode, headers }) => statusCode === 103 && res.writeEarlyHints(headers as never))
  outgoing.on('response', (incoming) => passBack(incoming, res))
  outgoing.on('error', (error) => onError(error, outgoing.reusedSocket))
  sendBody(req, outgoing)
  // The caller gave up: so does the service's.
  res.once('close', () => outgoing.destroy())
}

export function openConnection(mesh: HttpMesh, service: string): Socket {
  const socket = new Socket({ allowHalfOpen: true })
  connectToService(mesh, service, 80, socket)
  return socket
}

function sendBody(req: IncomingMessage, outgoing: ClientRequest): void {
  if (!hasBody(req)) {
    outgoing.end()
    return
  }
  // Expect goes on to the service: nothing of the body is asked of the client before the service wants it.
  if (req.headers.expect !== undefined) outgoing.flushHeaders()
  pipeline(req, outgoing, () => {})
}

function passBack(incoming: IncomingMessage, res: ServerResponse): void {
  res.writeHead(incoming.statusCode!, incoming.statusMessage, endToEnd(incoming.rawHeaders))
  incoming.once('end', () => {
    const trailers = pairs(incoming.rawTrailers)
    if (trailers.length > 0) res.addTrailers(trailers)
  })
  pipeline(incoming, res, (error) => error && res.destroy())
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}
