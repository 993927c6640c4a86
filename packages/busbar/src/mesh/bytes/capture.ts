import { errorMonitor, type EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { HttpMesh } from '../mesh.ts'
import { httpsRefused } from '../refusals.ts'
import { connectToService } from './connect.ts'
import { explainLookup, mayMeanService } from './lookup.ts'
import { release } from './socket.ts'

type Connect = (this: Socket, ...args: unknown[]) => Socket

/** Where a call of `connect` goes, and who wants to hear of it. */
interface Target {
  readonly host: string
  readonly port: number
  readonly callback: (() => void) | undefined
}

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
      if (target !== undefined) watchLookup(mesh, target.host, this)
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

/**
 * `connect(options, callback)`, `connect(port, host, callback)`, or one list of both that Node made of them before.
 * Undefined for Unix sockets, for what has no host, and for ports that Node has an error for.
 */
function targetOf(args: readonly unknown[]): Target | undefined {
  const list = Array.isArray(args[0]) ? (args[0] as readonly unknown[]) : args
  const [first] = list
  const last = list.at(-1)
  const callback = typeof last === 'function' ? (last as () => void) : undefined
  const { host, port, path } =
    typeof first === 'object' && first !== null
      ? (first as { host?: unknown; port?: unknown; path?: unknown })
      : { port: first, host: list[1], path: undefined }
  if (typeof host !== 'string' || Boolean(path) || !isPort(port)) return undefined
  return { host, port: Number(port), callback }
}

function isPort(port: unknown): boolean {
  if (typeof port !== 'number' && (typeof port !== 'string' || port.trim() === '')) return false
  const number = Number(port)
  return Number.isInteger(number) && number >= 0 && number <= 65_535
}

/** `errorMonitor` hears an error without counting as someone who handles it. */
function watchLookup(mesh: HttpMesh, host: string, socket: Socket): void {
  if (!mayMeanService(mesh.router, host)) return
  const events: EventEmitter = socket
  const explain = (error: NodeJS.ErrnoException): void => explainLookup(mesh.router, host, error)
  events.once(errorMonitor, explain)
  events.once('connect', () => events.off(errorMonitor, explain))
}
