import { AsyncLocalStorage } from 'node:async_hooks'
import type { AddressInfo, Server, Socket } from 'node:net'
import { emitIn } from './sockets/emit-in.ts'

/**
 * Lets a server listen without a port. Node's own code does everything but open a socket: `listening`, `address()`,
 * `'listening'` and `close()` work, header timeouts run and connections are counted, which a bare
 * `server.emit('connection')` on a server that never listened would not give.
 *
 * It rests on two internals that all supported Nodes have: `net.Server#_handle`, and `_listen2`, which uses a handle
 * that is already there.
 */
export interface VirtualListener {
  /**
   * Hands the server a connection that was accepted elsewhere. What happens on it runs in the async context of this call. One
   * that comes after `close()` is closed.
   */
  accept(socket: Socket): void
}

interface VirtualHandle {
  onconnection: ((status: number, handle: unknown) => void) | undefined
  listen(): number
  close(done?: () => void): void
  /** Only where there is an address: a pipe has none, and `address()` is its path then. */
  getsockname?(out: Partial<AddressInfo>): number
  /** Of a pipe: who may connect to it. */
  fchmod(): number
  ref(): void
  unref(): void
}

interface ServerInternals {
  _handle: VirtualHandle | null
  _listen2(address: string | null, port: number, addressType: number, backlog: number): void
}

/** `address` is what `server.address()` will say. Emits `'listening'` on the next tick, as a real one does. */
export function listenVirtually(server: Server, address: AddressInfo): VirtualListener {
  const handle = attachVirtualHandle(server, address)
  internals(server)._listen2(address.address, address.port, address.family === 'IPv6' ? 6 : 4, 0)
  return handle
}

/** Only puts the handle in place: for whoever stands inside `_listen2` already. `closed` is told of `server.close()`. */
export function attachVirtualHandle(
  server: Server,
  address: AddressInfo | string,
  closed: () => void = () => {},
): VirtualListener {
  const handle = createHandle(address, closed)
  internals(server)._handle = handle
  const counted = server as Server & { _connections: number }
  return {
    accept(socket) {
      if (handle.onconnection === undefined || counted._connections >= (server.maxConnections ?? Infinity))
        return void socket.destroy()
      counted._connections++
      Object.assign(socket, { _server: server })
      emitIn(socket, AsyncLocalStorage.snapshot())
      server.emit('connection', socket)
    },
  }
}

function createHandle(address: AddressInfo | string, closed: () => void): VirtualHandle {
  const handle: VirtualHandle = {
    onconnection: undefined,
    listen: () => 0,
    close(done) {
      handle.onconnection = undefined
      closed()
      if (done) process.nextTick(done)
    },
    fchmod: () => 0,
    ref: () => {},
    unref: () => {},
  }
  if (typeof address !== 'string') handle.getsockname = (out) => (Object.assign(out, address), 0)
  return handle
}

function internals(server: Server): ServerInternals {
  return server as unknown as ServerInternals
}
