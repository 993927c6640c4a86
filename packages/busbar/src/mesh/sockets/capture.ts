import { syncBuiltinESMExports } from 'node:module'
import net, { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { replace } from '../../shared/replace.ts'
import type { HttpMesh } from '../mesh.ts'
import { httpsRefused } from '../refusals.ts'
import { openConnection } from '../streams.ts'
import { connectBySocket } from './connect.ts'
import { watchLookup } from './lookup.ts'
import { type Target, targetOf } from './target.ts'
import { forgetAddresses } from './tcp-address.ts'

/** Leads every connection to a service's name into the mesh, whichever client makes it. Those elsewhere pass untouched. */
export function captureConnections(mesh: HttpMesh): Disposable {
  const installed = new DisposableStack()
  captureSockets(mesh, installed)
  if (mesh.streams !== undefined) captureCreation(mesh, installed)
  return installed
}

type Connect = (this: Socket, ...args: unknown[]) => Socket

/** `node:http`, undici, axios, got, `ws` and all others end at `net.Socket.prototype.connect`. */
function captureSockets(mesh: HttpMesh, installed: DisposableStack): void {
  const prototype = Socket.prototype as unknown as { connect: Connect }
  const original = prototype.connect
  const connect: Connect = function connect(...args) {
    const target = targetOf(args)
    const service = target === undefined ? undefined : mesh.router.serviceOf(target.host)
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
    // Whoever patched it after us still calls ours, which must not be cut out from under them.
    if (prototype.connect === connect) prototype.connect = original
  })
}

type Create = (this: unknown, ...args: unknown[]) => Socket

/** Clients that leave it to Node to make a socket get whatever the mesh makes: all that are named above. */
function captureCreation(mesh: HttpMesh, installed: DisposableStack): void {
  installed.defer(syncBuiltinESMExports)
  const functions = net as unknown as Record<'connect' | 'createConnection', Create>
  for (const name of ['connect', 'createConnection'] as const)
    replace(installed, functions, name, (original) => {
      return function (...args) {
        const target = targetOf(args)
        const service = target === undefined ? undefined : mesh.router.serviceOf(target.host)
        if (target === undefined || service === undefined || 'onread' in target.options)
          return Reflect.apply(original, this, args)
        return create(mesh, service, target)
      }
    })
  syncBuiltinESMExports()
}

function create(mesh: HttpMesh, service: string, { port, options, callback }: Target): Socket {
  const socket = openConnection(mesh, service, port, options)
  const { timeout } = options as { timeout?: number }
  if (timeout) socket.setTimeout(timeout)
  if (callback !== undefined) socket.once('connect', callback)
  return socket
}
