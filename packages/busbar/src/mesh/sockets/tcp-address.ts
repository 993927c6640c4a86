import type { Socket } from 'node:net'

export interface TcpAddress {
  readonly address: string
  readonly family: 'IPv4'
  readonly port: number
}

export interface TcpAddresses {
  readonly local: TcpAddress
  readonly remote: TcpAddress
}

export function loopback(port: number): TcpAddress {
  return { address: '127.0.0.1', family: 'IPv4', port }
}

/** Where the system's own ephemeral ports begin and end; each connection has one of its own in logs. */
const firstPort = 49_152
const lastPort = 65_535
let nextPort = firstPort

/** For the caller's end of a connection that has no port. */
export function takePort(): number {
  const port = nextPort
  nextPort = port === lastPort ? firstPort : port + 1
  return port
}

/**
 * Makes a Unix socket tell the addresses of a TCP connection on the loopback interface, which programs write into logs and
 * compare with lists. `isOpen` says whether they are known yet, as they are from `'connect'` on.
 */
export function presentAddresses(socket: Socket, addresses: TcpAddresses, isOpen: () => boolean = () => true): void {
  const { local, remote } = addresses
  const values = {
    remoteAddress: () => remote.address,
    remoteFamily: () => remote.family,
    remotePort: () => remote.port,
    localAddress: () => local.address,
    localFamily: () => local.family,
    localPort: () => local.port,
  }
  for (const [name, valueOf] of Object.entries(values))
    Object.defineProperty(socket, name, { get: () => (isOpen() ? valueOf() : undefined), configurable: true })
  Object.defineProperty(socket, 'address', {
    value: () => (isOpen() ? { ...local } : {}),
    configurable: true,
    writable: true,
  })
  // A Unix socket has no reset, and Node throws: its peer sees an end.
  Object.defineProperty(socket, 'resetAndDestroy', {
    value: () => socket.destroy(),
    configurable: true,
    writable: true,
  })
}

/** Before the socket connects elsewhere. */
export function forgetAddresses(socket: Socket): void {
  for (const name of presented) Reflect.deleteProperty(socket, name)
}

const presented = [
  'remoteAddress',
  'remoteFamily',
  'remotePort',
  'localAddress',
  'localFamily',
  'localPort',
  'address',
  'resetAndDestroy',
] as const
