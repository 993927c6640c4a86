/**
 * How a connection to an instance of a service is opened. Without an accelerator: by a socket of the system's, to the one that the
 * instance listens on.
 */
import { Socket, type SocketConstructorOpts } from 'node:net'
import { nextHops } from './hops.ts'
import type { Answerer } from './links/link.ts'
import type { HttpMesh } from './mesh.ts'
import { currentScope } from './scope.ts'
import { connectBySocket, type Origin } from './sockets/connect.ts'

/** What opens connections that are no sockets of the system's. */
export interface Streams {
  /**
   * A socket that is connecting to an instance, as `net.connect()` returns one. Each side's events come in its own async context;
   * bytes, ends and resets as from TCP.
   */
  open(mesh: HttpMesh, service: string, port: number, options: SocketConstructorOpts, origin: Origin): Socket
  /** Takes those that come over a link. */
  answer(mesh: HttpMesh): Answerer
}

/** A connection to a service, for those who make the socket themselves. A command has a port of its own. */
export function openConnection(
  mesh: HttpMesh,
  service: string,
  port: number,
  options: SocketConstructorOpts = {},
  origin: Origin = { hops: nextHops(), caller: currentScope()?.service },
): Socket {
  const { streams, router } = mesh
  if (streams !== undefined && origin.to?.at !== 'tcp' && !router.isCommand(service))
    return streams.open(mesh, service, port, options, origin)
  const socket = new Socket(options)
  connectBySocket(mesh, service, port, socket, origin)
  return socket
}
