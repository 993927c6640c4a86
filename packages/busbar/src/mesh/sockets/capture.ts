import { syncBuiltinESMExports } from 'node:module'
import net, { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { replaceProperty } from '../../shared/process/replace-property.ts'
import type { MeshContext } from '../mesh-context.ts'
import { watchLookup } from '../routing/service-names.ts'
import { httpsRefused } from '../routing/unreachable.ts'
import { connectBySocket, openConnection } from './connect.ts'
import { type ConnectTarget, connectTargetOf } from './connect-target.ts'
import { forgetAddresses } from './tcp-address.ts'

/**
 * Captures every connection to a service's name, by any client. Other connections go to the network
 * untouched.
 */
export function captureConnections(mesh: MeshContext): Disposable {
  const installed = new DisposableStack()
  captureSockets(mesh, installed)
  captureCreation(mesh, installed)
  return installed
}

type Connect = (this: Socket, ...args: unknown[]) => Socket

/** `node:http`, undici, axios, got, `ws` and all others call `net.Socket.prototype.connect`. */
function captureSockets(mesh: MeshContext, installed: DisposableStack): void {
  const prototype = Socket.prototype as unknown as { connect: Connect }
  const original = prototype.connect
  const connect: Connect = function connect(...args) {
    const target = connectTargetOf(args)
    const service = target === undefined ? undefined : serviceFor(mesh, target, this)
    if (target === undefined || service === undefined) {
      forgetAddresses(this)
      if (target !== undefined) watchLookup(mesh.router.names, target.host, this)
      return original.apply(this, args)
    }
    if (target.callback !== undefined) this.once('connect', target.callback)
    if (this instanceof TLSSocket) process.nextTick(() => this.destroy(httpsRefused(service)))
    else connectBySocket(mesh, service, target.port, this)
    return this
  }
  prototype.connect = connect
  installed.defer(() => {
    // A later patch still calls ours, so leave it in place then.
    if (prototype.connect === connect) prototype.connect = original
  })
}

/** A TLS connection to a port of this machine is not captured. */
function serviceFor({ router }: MeshContext, { host, port }: ConnectTarget, client: Socket): string | undefined {
  return client instanceof TLSSocket ? router.serviceOf(host) : router.serviceAt(host, port)
}

type Create = (this: unknown, ...args: unknown[]) => Socket

/**
 * Clients that let Node create their socket (`net.connect`, `net.createConnection`) get one from
 * the mesh.
 */
function captureCreation(mesh: MeshContext, installed: DisposableStack): void {
  installed.defer(syncBuiltinESMExports)
  const functions = net as unknown as Record<'connect' | 'createConnection', Create>
  for (const name of ['connect', 'createConnection'] as const)
    replaceProperty(installed, functions, name, (original) => {
      return function (...args) {
        const target = connectTargetOf(args)
        const service = target === undefined ? undefined : mesh.router.serviceAt(target.host, target.port)
        if (target === undefined || service === undefined || 'onread' in target.options)
          return Reflect.apply(original, this, args)
        return create(mesh, service, target)
      }
    })
  syncBuiltinESMExports()
}

function create(mesh: MeshContext, service: string, { port, options, callback }: ConnectTarget): Socket {
  const socket = openConnection(mesh, service, port, options)
  const { timeout } = options as { timeout?: number }
  if (timeout) socket.setTimeout(timeout)
  if (callback !== undefined) socket.once('connect', callback)
  return socket
}
