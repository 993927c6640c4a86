import { AsyncLocalStorage } from 'node:async_hooks'
import http from 'node:http'
import net, { type AddressInfo, type Server } from 'node:net'
import { attachVirtualHandle, type VirtualListener } from '../../mesh/listener.ts'
import { replace } from '../../shared/replace.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'

/** A program's HTTP server that listens, though it has no port. */
export interface CapturedServer {
  readonly server: Server
  readonly listener: VirtualListener
  /** What `server.address()` says; a path for a server that listens on one. */
  readonly address: AddressInfo | string
  /** Runs a callback in the async context that called `listen()`: the one that Node runs connections in. */
  readonly context: ReturnType<typeof AsyncLocalStorage.snapshot>
}

type Listen2 = (host: string | null, port: number, type: number, ...rest: unknown[]) => void

/**
 * `_listen2` is where Node has understood the arguments, resolved the name, and would open the socket. Only HTTP
 * servers are captured: what speaks another protocol needs its port.
 */
export function captureListen(programs: Programs, patches: DisposableStack): void {
  const prototype = net.Server.prototype as unknown as { _listen2: Listen2 }
  replace(patches, prototype, '_listen2', (original) => {
    return function (this: Server, ...args) {
      const program = isHttpServer(this) ? programs.current : undefined
      if (program === undefined || capture(program, this, addressOf(args))) Reflect.apply(original, this, args)
    }
  })
}

/** `https` and `http2` servers are told by their shape and name, so that asking does not load these modules. */
export function isHttpServer(value: unknown): value is Server {
  if (value instanceof http.Server) return true
  return value instanceof net.Server && ('closeIdleConnections' in value || isHttp2Server(value))
}

export function isHttp2Server(server: Server): boolean {
  for (let proto: unknown = Object.getPrototypeOf(server); proto instanceof Object;) {
    const { name } = (proto as { constructor: { name: string } }).constructor
    if (name === 'Http2Server' || name === 'Http2SecureServer') return true
    proto = Object.getPrototypeOf(proto)
  }
  return false
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

function addressOf([host, port, type]: [host: string | null, port: number, type: number, ...rest: unknown[]]):
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
