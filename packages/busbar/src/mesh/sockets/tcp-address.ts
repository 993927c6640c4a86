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

/** The range of ephemeral ports. Each connection gets its own port, for logs. */
const firstPort = 49_152
const lastPort = 65_535
let nextPort = firstPort

/** A port for the caller's end of a connection that has none. */
export function takePort(): number {
  const port = nextPort
  nextPort = port === lastPort ? firstPort : port + 1
  return port
}

/**
 * Gives a Unix socket the addresses of a TCP connection on the loopback interface, because programs
 * log them and compare them with lists. `isOpen`: whether the addresses are known yet, as they are
 * from `'connect'` on.
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
  // Node throws, because a Unix socket has no reset. The peer sees an end instead.
  Object.defineProperty(socket, 'resetAndDestroy', {
    value: () => socket.destroy(),
    configurable: true,
    writable: true,
  })
}

/** Call it before the socket connects to another target. */
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
