/**
 * A `net.Socket` whose bytes go to another socket of this process, or over a link. It implements
 * the methods of a stream, as in Node's docs ("API for stream implementers"), and has the
 * properties of a connected socket. Node's HTTP, HTTP/2 and TLS code treats it as a JavaScript
 * stream and uses its events.
 */
import { AsyncResource } from 'node:async_hooks'
import { type AddressInfo, Socket, type SocketConstructorOpts } from 'node:net'
import { closeIfIdle, closesIfIdle } from '../../mesh/http/exchange.ts'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'

export type Done = (error?: Error | null) => void

/** Carries the bytes of a socket, as the handle of a system socket does. */
export interface Carrier {
  readonly local: TcpAddress
  readonly remote: TcpAddress
  readonly bytesRead: number
  readonly bytesWritten: number
  /** The socket wants data, by `push`. */
  read(): void
  /** `owned`: nothing else can see or change these bytes. */
  write(chunk: Buffer, owned: boolean, done: Done): void
  /** Completes a write that has waited for room, or for the connection. */
  makeRoom(): void
  /** Nothing more will be written. */
  end(): void
  /** The other side's next read fails with ECONNRESET. */
  reset(): void
  destroy(): void
  /**
   * Lets the other side close the connection, unless some of its bytes are on their way. False if
   * there is nothing to wait for: the connection is closing, or data was not taken.
   */
  closeIfIdle(): boolean
}

type Getter = (carrier: Carrier, socket: Socket, underway: number) => unknown

const getters: Readonly<Record<string, Getter>> = {
  pending: (_, { connecting }) => connecting,
  bytesRead: ({ bytesRead }) => bytesRead,
  bytesWritten: ({ bytesWritten }, { writableLength }, underway) => bytesWritten + writableLength - underway,
  bufferSize: (_, { writableLength }) => writableLength,
  localAddress: ({ local }) => local.address,
  localPort: ({ local }) => local.port,
  localFamily: ({ local }) => local.family,
  remoteAddress: ({ remote }, { connecting }) => (connecting ? undefined : remote.address),
  remotePort: ({ remote }, { connecting }) => (connecting ? undefined : remote.port),
  remoteFamily: ({ remote }, { connecting }) => (connecting ? undefined : remote.family),
}

export class MemorySocket extends Socket {
  #carrier: Carrier | undefined
  #handle: ConnectionHandle | undefined
  #timer: NodeJS.Timeout | undefined
  /** Size of the write that is not complete. It counts as written and as buffered. */
  #underway = 0
  /** It belongs to an HTTP server, which closes it after a time without requests. */
  #isServed = false
  /** An agent has it back from a request, and no other request uses it. */
  #isFree = false;

  [closesIfIdle] = false

  /** The socket is connecting until {@link connected}. */
  constructor(options: SocketConstructorOpts) {
    super(options)
    state(this).connecting = true
  }

  /** To be called once, before anything else. */
  carry(carrier: Carrier): void {
    this.#carrier = carrier
  }

  /** For a client's socket. A server's belongs to a program that listens already. */
  opened(): void {
    if (!this.destroyed) this.#handle = new ConnectionHandle()
  }

  connected(): void {
    if (this.destroyed) return
    state(this).connecting = false
    this.on('free', () => {
      this.#isFree = true
    })
    this.emit('connect')
    this.#carrier?.makeRoom()
    this.emit('ready')
    if (this.readable && !this.isPaused()) this.read(0)
  }

  /** For a server's socket: a server gets its sockets connected. */
  accepted(byHttpServer: boolean): void {
    state(this).connecting = false
    this.#isServed = byHttpServer
  }

  /** True once for each reuse. Then another request writes, in another async context. */
  takeReuse(): boolean {
    const isReuse = this.#isFree
    this.#isFree = false
    return isReuse
  }

  /** Restarts the idle timeout. */
  touch(): void {
    this.#timer?.refresh()
  }

  [closeIfIdle](): void {
    this.#carrier?.closeIfIdle()
  }

  override destroy(error?: Error): this {
    // `error` is read first. An aborted `signal` destroys the socket, with an error, inside Node's
    // constructor, before the fields of this class exist.
    if (error === undefined && this[closesIfIdle] && !this.destroyed && this.#carrier?.closeIfIdle() === true)
      return this
    return super.destroy(error)
  }

  /** Connects to another address, as an ordinary socket. */
  override connect(...args: [never]): this {
    this.#carrier = undefined
    this.#handle?.emitDestroy()
    return super.connect(...args)
  }

  override _read(size: number): void {
    if (this.#carrier === undefined) super._read(size)
    else this.#carrier.read()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    if (this.#carrier === undefined) return super._write(chunk, encoding, done)
    const isText = typeof chunk === 'string'
    this.#send(isText ? Buffer.from(chunk, encoding) : chunk, isText, chunk.length, done)
  }

  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    if (this.#carrier === undefined) return super._writev!(chunks, done)
    let length = 0
    const parts = chunks.map(({ chunk, encoding }) => {
      length += chunk.length
      return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    })
    this.#send(Buffer.concat(parts), true, length, done)
  }

  override _final(done: Done): void {
    if (this.#carrier === undefined) return super._final(done)
    if (this.connecting) this.once('connect', () => this.#finish(done))
    else this.#finish(done)
  }

  override _destroy(error: Error | null, done: Done): void {
    if (this.#carrier === undefined) return super._destroy(error, done)
    clearTimeout(this.#timer)
    this.#handle?.emitDestroy()
    this.#carrier.destroy()
    state(this).connecting = false
    done(error)
    setImmediate(() => this.emit('close', error !== null))
  }

  override setTimeout(milliseconds: number, callback?: () => void): this {
    const isOurs = typeof milliseconds === 'number' && milliseconds >= 0 && milliseconds < Infinity
    if (this.#carrier === undefined || !isOurs) return super.setTimeout(milliseconds, callback)
    if (this.destroyed) return this
    state(this).timeout = milliseconds
    clearTimeout(this.#timer)
    this.#timer = milliseconds === 0 ? undefined : setTimeout(() => this.#timedOut(), milliseconds).unref()
    if (callback === undefined) return this
    return milliseconds === 0 ? this.off('timeout', callback) : this.once('timeout', callback)
  }

  override resetAndDestroy(): this {
    if (this.#carrier === undefined) return super.resetAndDestroy()
    if (this.connecting) return this.once('connect', () => this.resetAndDestroy())
    this.#carrier.reset()
    return this.destroy()
  }

  override ref(): this {
    this.#handle?.setRef(true)
    return this.#carrier === undefined ? super.ref() : this
  }

  override unref(): this {
    this.#handle?.setRef(false)
    return this.#carrier === undefined ? super.unref() : this
  }

  override address(): AddressInfo | object {
    return this.#carrier === undefined ? super.address() : { ...this.#carrier.local }
  }

  /** Unless a listener handles it, an HTTP server then destroys the socket. */
  #timedOut(): void {
    this[closesIfIdle] = this.#isServed
    try {
      this.emit('timeout')
    } finally {
      this[closesIfIdle] = false
    }
  }

  #finish(done: Done): void {
    this.#carrier?.end()
    done()
  }

  #send(chunk: Buffer, owned: boolean, length: number, done: Done): void {
    this.#underway = length
    this.#carrier!.write(chunk, owned, (error) => {
      this.#underway = 0
      done(error)
    })
  }

  static {
    // Programs and logs see Node's class.
    Object.defineProperty(this.prototype, 'constructor', { value: Socket })
    for (const [name, get] of Object.entries(getters))
      Object.defineProperty(this.prototype, name, {
        get(this: MemorySocket): unknown {
          const carrier = this.#carrier
          return carrier === undefined ? Reflect.get(Socket.prototype, name, this) : get(carrier, this, this.#underway)
        },
        configurable: true,
      })
  }
}

/**
 * Tells async hooks of the connection, as the handle of a system socket does. A worker stays alive
 * by its port to the supervisor; a program that starts is alive by what it has opened.
 */
class ConnectionHandle extends AsyncResource {
  #isRef = true

  constructor() {
    super('BUSBARCONNECTION', { requireManualDestroy: true })
  }

  setRef(isRef: boolean): void {
    this.#isRef = isRef
  }

  hasRef(): boolean {
    return this.#isRef
  }
}

/** Node's types declare these fields as read-only. */
function state(socket: Socket): { connecting: boolean; timeout: number } {
  return socket as unknown as { connecting: boolean; timeout: number }
}

/** Node's error for a write that waited for a connection which was never established. */
export function closedBeforeConnection(): Error {
  return Object.assign(new Error('Socket closed before the connection was established'), {
    code: 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
  })
}
