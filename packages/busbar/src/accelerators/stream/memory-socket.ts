/**
 * A `net.Socket` whose bytes go to another one of this process, or over a link. It implements the methods of a stream itself, as
 * Node's docs tell implementers to ("API for stream implementers"), and says of itself what a connected socket does. Node's HTTP,
 * HTTP/2 and TLS code takes it for a stream of JavaScript and reads its events.
 */
import { type AddressInfo, Socket, type SocketConstructorOpts } from 'node:net'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'

export type Done = (error?: Error | null) => void

/** What stands where a socket of the system's has its handle. */
export interface Carrier {
  readonly local: TcpAddress
  readonly remote: TcpAddress
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
  #timer: NodeJS.Timeout | undefined
  /** Of the write that is not done: counted as written, and as waiting. */
  #underway = 0

  /** It is connecting until {@link connected}. */
  constructor(options: SocketConstructorOpts) {
    super(options)
    state(this).connecting = true
  }

  /** Once, before anything else is done with it. */
  carry(carrier: Carrier): void {
    this.#carrier = carrier
  }

  connected(): void {
    if (this.destroyed) return
    state(this).connecting = false
    this.emit('connect')
    this.emit('ready')
    if (this.readable && !this.isPaused()) this.read(0)
  }

  /** Of a server's, which hears of it when it is connected. */
  accepted(): void {
    state(this).connecting = false
  }

  /** The idle timeout starts anew. */
  touch(): void {
    this.#timer?.refresh()
  }

  /** Elsewhere, as an ordinary socket. */
  override connect(...args: [never]): this {
    this.#carrier = undefined
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
    state(this).connecting = false
    clearTimeout(this.#timer)
    this.#carrier.destroy()
    done(error)
    setImmediate(() => this.emit('close', error !== null))
  }

  override setTimeout(milliseconds: number, callback?: () => void): this {
    const isOurs = typeof milliseconds === 'number' && milliseconds >= 0 && milliseconds < Infinity
    if (this.#carrier === undefined || !isOurs) return super.setTimeout(milliseconds, callback)
    if (this.destroyed) return this
    state(this).timeout = milliseconds
    clearTimeout(this.#timer)
    this.#timer = milliseconds === 0 ? undefined : setTimeout(timedOut, milliseconds, this).unref()
    if (callback === undefined) return this
    return milliseconds === 0 ? this.off('timeout', callback) : this.once('timeout', callback)
  }

  override resetAndDestroy(): this {
    if (this.#carrier === undefined) return super.resetAndDestroy()
    if (this.connecting) return this.once('connect', () => this.resetAndDestroy())
    this.#carrier.reset()
    return this.destroy()
  }

  // A worker lives by its port to the supervisor, not by its connections.
  override ref(): this {
    return this.#carrier === undefined ? super.ref() : this
  }

  override unref(): this {
    return this.#carrier === undefined ? super.unref() : this
  }

  override address(): AddressInfo | object {
    return this.#carrier === undefined ? super.address() : { ...this.#carrier.local }
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

/** Node declares them as fields that only it writes. */
function state(socket: Socket): { connecting: boolean; timeout: number } {
  return socket as unknown as { connecting: boolean; timeout: number }
}

function timedOut(socket: Socket): void {
  socket.emit('timeout')
}
