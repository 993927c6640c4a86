import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { connectToService } from '../mesh/bytes/connect.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import { endToEnd, pairs } from './end-to-end.ts'
import type { Way } from './routes.ts'

/**
 * Takes a request to its service over a byte stream of the mesh, on which the service's own server reads it anew: for
 * servers that make request and response objects of classes of their own. `onLost`: the service hung up before it had
 * begun to answer.
 */
export function relay(
  mesh: HttpMesh,
  { service }: Way,
  req: IncomingMessage,
  res: ServerResponse,
  onLost: (error: Error) => void,
): void {
  // No agent at all: one would keep the connection for itself, and make it its own way.
  const outgoing = request({
    createConnection: () => openConnection(mesh, service),
    setHost: false,
    method: req.method,
    path: req.url,
    headers: endToEnd(req.rawHeaders),
  })
  outgoing.useChunkedEncodingByDefault = hasBody(req)
  outgoing.on('continue', () => res.writeContinue())
  outgoing.on('information', ({ statusCode, headers }) => statusCode === 103 && res.writeEarlyHints(headers as never))
  outgoing.on('response', (incoming) => passBack(incoming, res))
  outgoing.on('error', (error) => (res.headersSent ? res.destroy() : onLost(error)))
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
