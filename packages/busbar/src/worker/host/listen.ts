import { AsyncLocalStorage } from 'node:async_hooks'
import { lookup } from 'node:dns'
import net, { type AddressInfo, isIP, type Server } from 'node:net'
import { PrivateListener } from '../../mesh/sockets/private-listener.ts'
import { replace } from '../../shared/replace.ts'
import type { CapturedServer } from './captured-server.ts'
import { Http1Front } from './http1-front.ts'
import { addressOf, type Wanted, wantedOf } from './listen-arguments.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { isHttp2Server, isHttpServer } from './server-kinds.ts'

type Listen = (this: Server, ...args: unknown[]) => Server

/**
 * Has the HTTP servers of programs listen on private sockets, which only the mesh and the doors of this worker find; what speaks
 * another protocol needs its port. `paths`: a new one each time.
 */
export function captureListen(programs: Programs, patches: DisposableStack, paths: () => string): void {
  const known = new WeakMap<Server, CapturedServer>()
  replace(patches, net.Server.prototype as { listen: Listen }, 'listen', (original) => {
    return function (this: Server, ...args) {
      const program = isHttpServer(this) ? programs.current : undefined
      const wanted = program === undefined || this.listening ? undefined : wantedOf(args)
      if (program === undefined || wanted === undefined) return Reflect.apply(original, this, args)
      resolved(wanted.host, (error, ip) => {
        if (error !== null) this.emit('error', error)
        else listenPrivately(program, this, { wanted, ip, known, paths, listen: original })
      })
      return this
    }
  })
}

/** At once for what is an address, as Node does it. */
function resolved(host: string | undefined, then: (error: Error | null, ip?: string) => void): void {
  if (host === undefined || isIP(host) !== 0) then(null, host)
  else lookup(host, then)
}

/** It listens as long as the other does, whose connections it is given. */
function frontOf(server: Server): Http1Front {
  const front = new Http1Front(server)
  Object.defineProperty(front, 'listening', { get: () => server.listening })
  // Servers of HTTP watch over slow headers from then on.
  server.on('listening', () => front.emit('listening'))
  return front
}

/** As many as Linux allows by default; a Unix socket has nowhere else to keep a connection that waits. */
const backlog = 4096

interface Private {
  readonly wanted: Wanted
  readonly ip: string | undefined
  /** Those that have listened: who closes and listens again keeps its path, which others have been told. */
  readonly known: WeakMap<Server, CapturedServer>
  readonly paths: () => string
  readonly listen: Listen
}

function listenPrivately(program: ProgramProcess, server: Server, { wanted, ip, known, paths, listen }: Private): void {
  const address = addressOf(wanted, ip, inventPort)
  if (program.servers.some((other) => overlap(other.address, address))) return refuse(server, address)
  const before = known.get(server)
  before?.listener.listenAgain(address)
  const front = before?.front ?? (isHttp2Server(server) ? frontOf(server) : undefined)
  const listener = before?.listener ?? new PrivateListener(server, { path: paths(), address, front })
  const captured: CapturedServer = { server, listener, front, address, context: AsyncLocalStorage.snapshot() }
  known.set(server, captured)
  program.servers.push(captured)
  server.once('close', () => {
    program.servers.splice(program.servers.indexOf(captured), 1)
    front?.close()
  })
  server.once('listening', () => program.onListen(captured))
  const { callback, signal } = wanted
  listen.call(server, { path: listener.path, backlog, signal }, ...(callback === undefined ? [] : [callback]))
  // A worker lives by its port to the supervisor, and a program that listens is not one that still has something to do.
  server.unref()
}

/** Ports that the kernel would give: nobody connects to them, programs print them and compare them. */
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

function refuse(server: Server, address: AddressInfo | string): void {
  const where = typeof address === 'string' ? address : `${address.address}:${address.port}`
  const error = Object.assign(new Error(`listen EADDRINUSE: address already in use ${where}`), {
    code: 'EADDRINUSE',
    errno: -98,
    syscall: 'listen',
    ...(typeof address === 'string' ? { address } : { address: address.address, port: address.port }),
  })
  process.nextTick(() => server.emit('error', error))
}
