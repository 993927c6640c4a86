import { AsyncLocalStorage } from 'node:async_hooks'
import { lookup } from 'node:dns'
import net, { type AddressInfo, isIP, type Server } from 'node:net'
import { attachVirtualHandle } from '../../mesh/listener.ts'
import { PrivateListener } from '../../mesh/sockets/private-listener.ts'
import { replace } from '../../shared/replace.ts'
import type { CapturedServer } from './captured-server.ts'
import { Http1Front } from './http1-front.ts'
import { addressOf, type Wanted, wantedOf } from './listen-arguments.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { isHttp2Server, isHttpServer } from './server-kinds.ts'

type Listen2 = (host: string | null, port: number, type: number, ...rest: unknown[]) => void

/**
 * Has the HTTP servers of programs listen where only the mesh and the doors of this worker find them; what speaks another
 * protocol needs its port. `paths`: where private sockets are; without, servers listen by a handle of ours.
 */
export function captureListen(programs: Programs, patches: DisposableStack, paths?: () => string): void {
  if (paths === undefined) captureByHandle(programs, patches)
  else captureBySocket(programs, patches, paths)
}

/** `_listen2` is where Node has understood the arguments, resolved the name, and would open the socket. */
function captureByHandle(programs: Programs, patches: DisposableStack): void {
  const prototype = net.Server.prototype as unknown as { _listen2: Listen2 }
  replace(patches, prototype, '_listen2', (original) => {
    return function (this: Server, ...args) {
      const program = isHttpServer(this) ? programs.current : undefined
      if (program === undefined || capture(program, this, addressIn(args))) Reflect.apply(original, this, args)
    }
  })
}

type Listen = (this: Server, ...args: unknown[]) => Server

function captureBySocket(programs: Programs, patches: DisposableStack, paths: () => string): void {
  replace(patches, net.Server.prototype as { listen: Listen }, 'listen', (original) => {
    return function (this: Server, ...args) {
      const program = isHttpServer(this) ? programs.current : undefined
      const wanted = program === undefined || this.listening ? undefined : wantedOf(args)
      if (program === undefined || wanted === undefined) return Reflect.apply(original, this, args)
      resolved(wanted.host, (error, ip) => {
        if (error !== null) this.emit('error', error)
        else listenPrivately(program, this, { wanted, ip, path: paths(), listen: original })
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
  server.once('listening', () => front.emit('listening'))
  return front
}

/** As many as Linux allows by default; a Unix socket has nowhere else to keep a connection that waits. */
const backlog = 4096

interface Private {
  readonly wanted: Wanted
  readonly ip: string | undefined
  readonly path: string
  readonly listen: Listen
}

function listenPrivately(program: ProgramProcess, server: Server, { wanted, ip, path, listen }: Private): void {
  const address = addressOf(wanted, ip, inventPort)
  if (program.servers.some((other) => overlap(other.address, address))) return refuse(server, address)
  const front = isHttp2Server(server) ? frontOf(server) : undefined
  const door = new PrivateListener(server, { path, address, front })
  const captured: CapturedServer = {
    server,
    listener: door,
    door,
    front,
    address,
    context: AsyncLocalStorage.snapshot(),
  }
  program.servers.push(captured)
  server.once('close', () => {
    program.servers.splice(program.servers.indexOf(captured), 1)
    front?.close()
  })
  server.once('listening', () => program.onListen(captured))
  const { callback, signal } = wanted
  listen.call(server, { path, backlog, signal }, ...(callback === undefined ? [] : [callback]))
  // A worker lives by its port to the supervisor, and a program that listens is not one that still has something to do.
  server.unref()
}

/** False when the program itself holds this address: it is told so as the kernel would. */
function capture(program: ProgramProcess, server: Server, address: AddressInfo | string): boolean {
  if (program.servers.some((other) => overlap(other.address, address))) {
    refuse(server, address)
    return false
  }
  const listener = attachVirtualHandle(server, address, () => {
    program.servers.splice(program.servers.indexOf(captured), 1)
  })
  const captured: CapturedServer = { server, listener, address, context: AsyncLocalStorage.snapshot() }
  program.servers.push(captured)
  server.once('listening', () => program.onListen(captured))
  return true
}

function addressIn([host, port, type]: [host: string | null, port: number, type: number, ...rest: unknown[]]):
  | AddressInfo
  | string {
  // A path comes in the place of the host, with -1 as port and type; a descriptor with neither host nor port.
  if (host !== null && port === -1) return host
  const family = host === null || type === 6 ? 'IPv6' : 'IPv4'
  return { address: host ?? '::', family, port: port > 0 ? port : inventPort() }
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
