import { AsyncLocalStorage } from 'node:async_hooks'
import { lookup } from 'node:dns'
import net, { type AddressInfo, isIP, type Server } from 'node:net'
import { PrivateListener } from '../../../mesh/sockets/instance/private-listener.ts'
import { replaceProperty } from '../../../shared/process/replace-property.ts'
import { type CapturedServer, isHttp2Server, isHttpServer } from './captured-server.ts'
import { Http1Front } from './http1-front.ts'
import { addressOf, type ListenRequest, parseListenArguments } from './listen-arguments.ts'
import type { ProgramProcess } from '../process/program-process.ts'
import type { Programs } from '../process/programs.ts'

type Listen = (this: Server, ...args: unknown[]) => Server

/**
 * Makes the HTTP servers of programs listen on private sockets, which only the mesh and this
 * worker's listeners use. Servers of other protocols get their real port. `paths` returns a new
 * path at each call.
 */
export function captureListen(programs: Programs, patches: DisposableStack, paths: () => string): void {
  const captured = new WeakMap<Server, CapturedServer>()
  replaceProperty(patches, net.Server.prototype as { listen: Listen }, 'listen', (original) => {
    return function (this: Server, ...args) {
      const program = isHttpServer(this) ? programs.current : undefined
      const request = program === undefined || this.listening ? undefined : parseListenArguments(args)
      if (program === undefined || request === undefined) return Reflect.apply(original, this, args)
      resolveHost(request.host, (error, ip) => {
        if (error !== null) this.emit('error', error)
        else listenPrivately(program, this, { request, ip, captured, paths, listen: original })
      })
      return this
    }
  })
}

/** Calls back synchronously for an IP address, as Node does. */
function resolveHost(host: string | undefined, callback: (error: Error | null, ip?: string) => void): void {
  if (host === undefined || isIP(host) !== 0) callback(null, host)
  else lookup(host, callback)
}

/** The front counts as listening while `server` listens. */
function createFront(server: Server): Http1Front {
  const front = new Http1Front(server)
  Object.defineProperty(front, 'listening', { get: () => server.listening })
  // HTTP servers start their check for slow headers on this event.
  server.on('listening', () => front.emit('listening'))
  return front
}

/** Linux's default maximum. A Unix socket queues waiting connections nowhere else. */
const backlog = 4096

interface PrivateListening {
  readonly request: ListenRequest
  readonly ip: string | undefined
  /** A server that closes and listens again keeps its path, which other workers already know. */
  readonly captured: WeakMap<Server, CapturedServer>
  readonly paths: () => string
  readonly listen: Listen
}

function listenPrivately(program: ProgramProcess, server: Server, options: PrivateListening): void {
  const { request, ip, captured: all, paths, listen } = options
  const address = addressOf(request, ip, inventPort)
  if (program.servers.some((other) => overlap(other.address, address))) return failInUse(server, address)
  const before = all.get(server)
  before?.listener.listenAgain(address)
  const front = before?.front ?? (isHttp2Server(server) ? createFront(server) : undefined)
  const listener = before?.listener ?? new PrivateListener(server, { path: paths(), address, front })
  const captured: CapturedServer = { server, listener, front, address, context: AsyncLocalStorage.snapshot() }
  all.set(server, captured)
  program.servers.push(captured)
  server.once('close', () => {
    program.servers.splice(program.servers.indexOf(captured), 1)
    front?.close()
  })
  server.once('listening', () => program.onListen(captured))
  const { callback, signal } = request
  listen.call(server, { path: listener.path, backlog, signal }, ...(callback === undefined ? [] : [callback]))
  // The worker's control port keeps it alive. This server must not count as an open handle.
  server.unref()
}

/**
 * Port 0 becomes one of the ports that a kernel would choose. Programs only print and compare it.
 */
const firstEphemeral = 49_152
const ephemerals = 65_536 - firstEphemeral
let invented = 0

function inventPort(): number {
  return firstEphemeral + (invented++ % ephemerals)
}

function overlap(one: AddressInfo | string, other: AddressInfo | string): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  if (one.port !== other.port) return false
  return one.address === other.address || isWildcard(one) || isWildcard(other)
}

function isWildcard({ address }: AddressInfo): boolean {
  return address === '::' || address === '0.0.0.0'
}

function failInUse(server: Server, address: AddressInfo | string): void {
  const where = typeof address === 'string' ? address : `${address.address}:${address.port}`
  const error = Object.assign(new Error(`listen EADDRINUSE: address already in use ${where}`), {
    code: 'EADDRINUSE',
    errno: -98,
    syscall: 'listen',
    ...(typeof address === 'string' ? { address } : { address: address.address, port: address.port }),
  })
  process.nextTick(() => server.emit('error', error))
}
