import { Socket } from 'node:net'
import { nextHops } from '../hops.ts'
import type { HttpMesh } from '../mesh.ts'
import { connectionRefused } from '../refusals.ts'
import { currentScope } from '../scope.ts'
import type { Endpoint } from '../endpoint.ts'
import { writeOpening } from './opening.ts'
import { forgetAddresses, loopback, presentAddresses, takePort } from './tcp-address.ts'

/** Who connects. */
export interface Origin {
  /** The service; undefined for what comes from outside. */
  readonly caller: string | undefined
  /** How many calls the next one is, in a chain in which each caused the next. */
  readonly hops: number
  /** The instance, where that has been chosen already. */
  readonly to?: Endpoint | undefined
}

type Connect = (this: Socket, options: object) => Socket

const { connect } = Socket.prototype as unknown as { connect: Connect }

/** Connects a client's socket to a service's instance by the socket that this listens on: its private one, or a command's port. */
export function connectBySocket(
  mesh: HttpMesh,
  service: string,
  port: number,
  client: Socket,
  origin: Origin = { hops: nextHops(), caller: currentScope()?.service },
): void {
  const { router } = mesh
  forgetAddresses(client)
  const endpoint = origin.to ?? router.find(service)
  const refused = (): Error => connectionRefused(router, service, port)
  if (endpoint?.at === 'tcp') return void connect.call(client, { host: endpoint.host, port: endpoint.port })
  const path = endpoint?.at === 'here' ? endpoint.listener?.path : endpoint?.path
  if (path === undefined) refuse(client, port, refused())
  else connectToInstance(client, path, port, origin, refused)
}

/** A failed lookup is how a connection is refused with an error of one's own: in a later turn, and with all that waits on it. */
function refuse(client: Socket, port: number, error: Error): void {
  const lookup = (_name: string, _options: object, callback: (error: Error) => void): void => callback(error)
  connect.call(client, { host: 'service.invalid', port, lookup })
}

function connectToInstance(
  client: Socket,
  path: string,
  port: number,
  { hops, caller }: Origin,
  refused: () => Error,
): void {
  const callerPort = takePort()
  const isOpen = (): boolean => !client.connecting
  presentAddresses(client, { local: loopback(callerPort), remote: loopback(port) }, isOpen)
  explainFailure(client, refused)
  connect.call(client, { path })
  // Before all that the client writes: what is written while a socket connects waits in order.
  client.write(writeOpening({ hops, caller, callerPort, port }))
}

/**
 * What the system says of a path means nothing to a client: that the instance has gone since it was found, or has no room for
 * one more connection (EAGAIN), is told as of any that does not serve.
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
