import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { HttpMesh } from '../mesh.ts'
import { httpsRefused } from '../refusals.ts'
import { connectToService } from './connect.ts'
import { forgetAddresses } from '../sockets/tcp-address.ts'
import { watchLookup } from './lookup.ts'
import { release } from './socket.ts'
import { targetOf } from './target.ts'

type Connect = (this: Socket, ...args: unknown[]) => Socket

/**
 * Leads every connection to a service's name into the mesh, whichever client makes it: `node:http`, undici, axios, got,
 * `ws` and all others end at `net.Socket.prototype.connect`. Connections elsewhere, and to Unix sockets, pass untouched.
 */
export function captureConnections(mesh: HttpMesh): Disposable {
  const prototype = Socket.prototype as unknown as { connect: Connect }
  const original = prototype.connect
  const connect: Connect = function connect(...args) {
    const target = targetOf(args)
    const service = target === undefined ? undefined : mesh.router.serviceOf(target.host)
    if (target === undefined || service === undefined) {
      release(this)
      forgetAddresses(this)
      if (target !== undefined) watchLookup(mesh.router.names, target.host, this)
      return original.apply(this, args)
    }
    if (target.callback !== undefined) this.once('connect', target.callback)
    if (this instanceof TLSSocket) process.nextTick(() => this.destroy(httpsRefused(service)))
    else connectToService(mesh, service, target.port, this)
    return this
  }
  prototype.connect = connect
  return {
    [Symbol.dispose]() {
      // Whoever patched it after us still calls ours, which must not be cut out from under them.
      if (prototype.connect === connect) prototype.connect = original
    },
  }
}
