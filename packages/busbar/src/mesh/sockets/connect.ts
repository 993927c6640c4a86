import { Socket, type SocketConstructorOpts } from 'node:net'
import type { ConnectionOrigin, MeshContext } from '../mesh-context.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { connectionRefused } from '../routing/unreachable.ts'
import { currentScope, nextHops } from '../scope.ts'
import { type ConnectionPreamble, writePreamble, healthCheckCaller } from './instance/preamble.ts'
import { countRequests, RequestCounter } from './instance/request-counter.ts'
import { forgetAddresses, loopback, presentAddresses, takePort } from './tcp-address.ts'

/**
 * Opens a connection to a service, for callers that leave the choice of socket to the mesh. A
 * command always gets a system socket.
 */
export function openConnection(
  mesh: MeshContext,
  service: string,
  port: number,
  options: SocketConstructorOpts = {},
  origin: ConnectionOrigin = currentOrigin(),
): Socket {
  const { streams, router } = mesh
  if (streams !== undefined && origin.to?.at !== 'tcp' && !router.isCommand(service))
    return streams.open(mesh, service, port, options, origin)
  const socket = new PrivateSocket(options)
  connectBySocket(mesh, service, port, socket, origin)
  return socket
}

function currentOrigin(): ConnectionOrigin {
  return { hops: nextHops(), caller: currentScope()?.service }
}

type Connect = (this: Socket, options: object) => Socket

const { connect } = Socket.prototype as unknown as { connect: Connect }

/**
 * Connects `client` to an instance by system sockets: to its private socket, or to a command's
 * port.
 */
export function connectBySocket(
  mesh: MeshContext,
  service: string,
  port: number,
  client: Socket,
  origin: ConnectionOrigin = currentOrigin(),
): void {
  const { router } = mesh
  forgetAddresses(client)
  const endpoint = origin.to ?? router.find(service)
  if (endpoint !== undefined) origin.found?.(endpoint)
  const refused = (): Error => connectionRefused(router, service, port)
  if (endpoint?.at === 'tcp') {
    connect.call(client, { host: endpoint.host, port: endpoint.port })
    endpoint.connections?.add(client)
    return count(mesh, endpoint, origin, client)
  }
  const path = endpoint?.at === 'here' ? endpoint.listener?.path : endpoint?.path
  if (endpoint === undefined || path === undefined) return refuse(client, port, refused())
  connectToInstance(client, path, port, { worker: mesh.meter?.worker, ...origin }, refused)
  count(mesh, endpoint, origin, client)
}

/** After `connect`, which restores a replaced `write`, and after the preamble. */
function count(mesh: MeshContext, endpoint: Endpoint, origin: ConnectionOrigin, client: Socket): void {
  const counter = RequestCounter.for(mesh, endpoint, origin)
  if (counter !== undefined) countRequests(client, counter)
}

/**
 * Refuses the connection through a `lookup` that fails. That destroys the socket in a later turn,
 * with our error.
 */
function refuse(client: Socket, port: number, error: Error): void {
  const lookup = (_name: string, _options: object, callback: (error: Error) => void): void => callback(error)
  connect.call(client, { host: 'service.invalid', port, lookup })
}

/** Connects `client` to the private socket of an instance. */
export function connectToInstance(
  client: Socket,
  path: string,
  port: number,
  { hops, caller, worker }: Pick<ConnectionPreamble, 'hops' | 'caller' | 'worker'>,
  refused: () => Error,
): void {
  const callerPort = takePort()
  const isOpen = (): boolean => !client.connecting
  presentAddresses(client, { local: loopback(callerPort), remote: loopback(port) }, isOpen)
  explainFailure(client, refused)
  connect.call(client, { path })
  // Goes before all that the client writes, because Node queues writes of a connecting socket in
  // order.
  client.write(writePreamble({ hops, caller, callerPort, port, worker }))
}

/**
 * Replaces system errors about the path, which mean nothing to a client. The instance has gone
 * since it was picked, or has no room for another connection (EAGAIN): the client gets the error of
 * a service that does not serve.
 */
function explainFailure(client: Socket, refused: () => Error): void {
  const destroy = client.destroy.bind(client)
  const explain = (error?: NodeJS.ErrnoException): Socket => {
    restore()
    return destroy(error?.syscall === 'connect' ? refused() : error)
  }
  const restore = (): void => {
    if (client.destroy === explain) Reflect.deleteProperty(client, 'destroy')
  }
  Object.defineProperty(client, 'destroy', { value: explain, configurable: true, writable: true })
  client.once('connect', restore)
}

type Done = (error?: NodeJS.ErrnoException | null) => void

/**
 * A client's end of a private connection. A write to a Unix socket fails as soon as the peer has
 * closed, even if the peer has left a response. Over TCP the client can still read that response.
 * So such a write is complete, without an error, when the client has read to the end.
 */
export class PrivateSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    super._write(chunk, encoding, (error) => this.#written(error, done))
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    super._writev!(chunks, (error) => this.#written(error, done))
  }

  /** A client that does not read gets the error: it might never come to the end. */
  #written(error: NodeJS.ErrnoException | null | undefined, done: Done): void {
    const isReading = this.readableFlowing === true || this.listenerCount('readable') > 0
    if (error?.code !== 'EPIPE' || !isReading || this.readableEnded || this.destroyed) return done(error)
    const settle = (): void => {
      this.off('end', settle).off('close', settle)
      done()
    }
    this.on('end', settle).on('close', settle)
  }

  static {
    // Programs and logs see Node's class.
    Object.defineProperty(this.prototype, 'constructor', { value: Socket })
  }
}

/** Opens a connection for a health check to the private socket of an instance. */
export function connectForHealthCheck(path: string): Socket {
  const socket = new Socket()
  const refused = (): Error => new Error('its server does not listen')
  connectToInstance(socket, path, 80, { hops: 0, caller: healthCheckCaller }, refused)
  return socket
}
