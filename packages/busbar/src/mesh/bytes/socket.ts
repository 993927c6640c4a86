/**
 * Puts something of ours where a `net.Socket` has its handle. Only the hooks that Node documents for implementers of
 * streams are replaced, and what reads the handle, on this one socket; timeouts, half-open, `end` and `close` stay Node's.
 * It has no `_handle`: Node's HTTP, HTTP/2 and TLS code take such a socket for a stream of JavaScript and read its events.
 */
import { Socket } from 'node:net'

export type Done = (error?: Error | null) => void

export interface SocketAddress {
  readonly address: string
  readonly family: 'IPv4'
  readonly port: number
}

export function loopback(port: number): SocketAddress {
  return { address: '127.0.0.1', family: 'IPv4', port }
}

/** What stands in for the handle. */
export interface Carrier {
  readonly local: SocketAddress
  readonly remote: SocketAddress
  readonly bytesRead: number
  readonly bytesWritten: number
  /** The socket wants what has come, by `push`. */
  read(): void
  /** `owned`: nobody else can see or change these bytes. */
  write(chunk: Buffer, owned: boolean, done: Done): void
  /** No more will be written. */
  end(): void
  /** The other side's next read fails with ECONNRESET. */
  reset(): void
  destroy(): void
}

/** Fields of a socket that Node has had since its first versions, but does not declare. */
export interface SocketInternals extends Socket {
  connecting: boolean
  /** Something happened: the idle timeout starts anew. */
  _unrefTimer(): void
  /** A destroyed socket may connect again. */
  _undestroy(): void
  _final(done: Done): void
  _handle: { close(closed: () => void): void; bytesRead: number; bytesWritten: number } | null
}

export function internals(socket: Socket): SocketInternals {
  return socket as SocketInternals
}

/** `socket` has no handle: it is new, or about to connect. */
export function carry(socket: Socket, carrier: Carrier): void {
  Object.defineProperties(socket, hooks)
  Object.defineProperty(socket, carrierOf, { value: carrier, configurable: true })
}

/** Makes `socket` an ordinary one again, which may connect elsewhere. */
export function release(socket: Socket): void {
  if (!Object.hasOwn(socket, carrierOf)) return
  for (const name of [...Object.keys(hooks), carrierOf]) Reflect.deleteProperty(socket, name)
}

const carrierOf = Symbol('busbar.carrier')

interface CarriedSocket extends SocketInternals {
  readonly [carrierOf]: Carrier
}

const hooks: PropertyDescriptorMap = {
  _read: hook((socket) => socket[carrierOf].read()),
  _write: hook((socket, chunk: Buffer | string, encoding: BufferEncoding, done: Done) => {
    const text = typeof chunk === 'string'
    socket[carrierOf].write(text ? Buffer.from(chunk, encoding) : chunk, text, done)
  }),
  _writev: hook((socket, chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done) => {
    const parts = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    )
    socket[carrierOf].write(Buffer.concat(parts), true, done)
  }),
  _final: hook((socket, done: Done) => {
    if (socket.connecting) {
      socket.once('connect', () => socket._final(done))
      return
    }
    socket[carrierOf].end()
    done()
  }),
  _destroy: hook((socket, error: Error | null, done: Done) => {
    const carrier = socket[carrierOf]
    carrier.destroy()
    // With a handle to close, Node says in 'close' whether there was an error.
    const { bytesRead, bytesWritten } = carrier
    socket._handle = { close: (closed) => void setImmediate(closed), bytesRead, bytesWritten }
    Socket.prototype._destroy.call(socket, error, done)
  }),
  resetAndDestroy: hook((socket) => {
    if (socket.connecting) return socket.once('connect', () => socket.resetAndDestroy())
    socket[carrierOf].reset()
    return socket.destroy()
  }),
  // A worker lives by its port to the supervisor, not by its connections.
  ref: hook((socket) => socket),
  unref: hook((socket) => socket),
  address: hook((socket) => ({ ...socket[carrierOf].local })),
  pending: getter((socket) => socket.connecting),
  bytesRead: getter((socket) => socket[carrierOf].bytesRead),
  _bytesDispatched: getter((socket) => socket[carrierOf].bytesWritten),
  localAddress: getter((socket) => socket[carrierOf].local.address),
  localPort: getter((socket) => socket[carrierOf].local.port),
  localFamily: getter((socket) => socket[carrierOf].local.family),
  remoteAddress: getter((socket) => remoteOf(socket)?.address),
  remotePort: getter((socket) => remoteOf(socket)?.port),
  remoteFamily: getter((socket) => remoteOf(socket)?.family),
}

function remoteOf(socket: CarriedSocket): SocketAddress | undefined {
  return socket.connecting ? undefined : socket[carrierOf].remote
}

/** `never`: each hook states what Node passes to it. */
function hook(run: (socket: CarriedSocket, ...args: never[]) => unknown): PropertyDescriptor {
  return {
    value(this: CarriedSocket, ...args: never[]) {
      return run(this, ...args)
    },
    configurable: true,
    writable: true,
  }
}

function getter(get: (socket: CarriedSocket) => unknown): PropertyDescriptor {
  return {
    get(this: CarriedSocket) {
      return get(this)
    },
    configurable: true,
  }
}
