/** The part that all socket transports share: the handshake, packets as bytes, and backpressure. */
import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import { helloTimeout, keepAliveTimeout, maxHello, maxPacket, maxInTransit } from '../links/limits/limits.ts'
import {
  closedUnexpectedly,
  type Packet,
  type PacketTransport,
  type PacketTransportListener,
  ProtocolError,
} from '../links/packet-transport.ts'
import { type WorkerHello, type Hello, helloPacket, readHello } from './hello.ts'
import type { IncompletePackets } from './incomplete-packets.ts'
import { encodePacket, PacketReader } from './packet-codec.ts'

/** `peer`: what its hello says. */
export interface HandshakeResult<Peer = WorkerHello> {
  readonly transport: PacketTransport
  readonly peer: Peer
}

/** What two ends say before the first frame. */
export interface Greeting<Peer> {
  readonly own: Packet
  /** Sent instead of `own` to a peer that is refused. */
  readonly refusal: Packet
  /** Throws {@link ProtocolError} for a peer that is refused. */
  read(first: Packet): Peer
  /** The largest hello of the peer, in bytes. Default: `maxHello`. */
  readonly limit?: number
  /** Milliseconds until the hello of the peer. Default: `helloTimeout`. */
  readonly timeout?: number
}

/** Between workers of one app. */
export function handshake(socket: Socket, hello: Hello, dialled: boolean): Promise<HandshakeResult> {
  return greet(socket, dialled, {
    own: helloPacket(hello),
    // Without the secret. It tells a peer of another version why it is refused.
    refusal: helloPacket({ ...hello, secret: '' }),
    read: (first) => readHello(first, hello.secret),
    // The peer is a worker, which may load a program for longer than others have for their hello.
    timeout: keepAliveTimeout,
  })
}

/**
 * Exchanges hellos over a socket. The dialling side goes first, and gets no answer before it has
 * proved that it may call. Rejects with LINK_LOST, and closes the socket, if the peer is refused,
 * speaks another version or sends nothing. `incomplete`: of all links to peers that are not
 * trusted.
 */
export async function greet<Peer>(
  socket: Socket,
  dialled: boolean,
  greeting: Greeting<Peer>,
  incomplete?: IncompletePackets,
): Promise<HandshakeResult<Peer>> {
  const transport = new SocketTransport(socket, greeting.limit, incomplete)
  const late = (): void => transport.fail('did not send hello in time')
  const clearLate = startRunningTimeout(greeting.timeout ?? helloTimeout, late)
  try {
    if (dialled) transport.send(greeting.own)
    const peer = greeting.read(await transport.first())
    if (!dialled) transport.send(greeting.own)
    return { transport, peer }
  } catch (error) {
    if (!dialled) transport.send(greeting.refusal)
    transport.close()
    throw new BusbarError('LINK_LOST', { message: `the other end of the socket ${(error as Error).message}` })
  } finally {
    clearLate()
  }
}

type State =
  | { readonly is: 'handshake'; readonly first: PromiseWithResolvers<Packet> }
  /**
   * Not opened yet. Packets that arrived in one slice with the hello wait, and nothing more is
   * read.
   */
  | { readonly is: 'waiting'; readonly arrived: Packet[] }
  | { readonly is: 'open'; readonly listener: PacketTransportListener }
  | { readonly is: 'closed' }

/** Milliseconds that a closed transport has to send the rest. */
const lingerTimeout = 1_000

class SocketTransport implements PacketTransport {
  readonly #socket: Socket
  readonly #reader: PacketReader
  readonly #incomplete: IncompletePackets | undefined
  #state: State = { is: 'handshake', first: Promise.withResolvers() }
  #needsDrain = false

  constructor(socket: Socket, limit = maxHello, incomplete?: IncompletePackets) {
    this.#socket = socket
    this.#incomplete = incomplete
    this.#reader = new PacketReader(limit, (packet) => this.#take(packet))
    socket.on('data', (slice: Buffer) => this.#read(slice))
    socket.on('drain', () => this.#drained())
    socket.once('error', (error: NodeJS.ErrnoException) =>
      this.fail(`is not reachable (${error.code ?? error.message})`),
    )
    // A socket that allows half-open connections does not close by itself.
    socket.once('end', () => this.fail(closedUnexpectedly))
    socket.once('close', () => this.fail(closedUnexpectedly))
  }

  /** The hello. Rejects with a predicate that describes the fault. */
  async first(): Promise<Packet> {
    if (this.#state.is === 'handshake') return await this.#state.first.promise
    throw new ProtocolError(closedUnexpectedly)
  }

  open(listener: PacketTransportListener): void {
    const before = this.#state
    if (before.is !== 'waiting') return process.nextTick(() => listener.onClose(closedUnexpectedly))
    this.#state = { is: 'open', listener }
    for (const packet of before.arrived) listener.onPacket(packet)
    this.#socket.resume()
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'closed') return true
    const socket = this.#socket
    const pieces = encodePacket(packet)
    // One `writev` for all pieces.
    if (pieces.length > 1) socket.cork()
    for (const piece of pieces) socket.write(piece)
    if (pieces.length > 1) socket.uncork()
    this.#needsDrain = socket.writableLength > maxInTransit
    return !this.#needsDrain
  }

  close(): void {
    if (this.#state.is === 'closed') return
    this.fail(undefined)
    const socket = this.#socket
    socket.destroySoon()
    const timer = setTimeout(() => socket.destroy(), lingerTimeout)
    socket.once('close', () => clearTimeout(timer))
  }

  /** `reason`: undefined for an orderly close. */
  fail(reason: string | undefined): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    this.#incomplete?.remove(this)
    if (before.is === 'open') before.listener.onClose(reason)
    if (before.is === 'handshake') before.first.reject(new ProtocolError(reason))
    // Discard whatever still arrives.
    this.#socket.resume()
    if (reason !== undefined) this.#socket.destroy()
  }

  #read(slice: Buffer): void {
    if (this.#isClosed) return
    try {
      this.#reader.push(slice)
      const { waiting } = this.#reader
      if (this.#state.is === 'open' && waiting > 0) this.#state.listener.onPart()
      // What has arrived may have ended the link.
      if (!this.#isClosed) this.#incomplete?.set(this, waiting)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.fail(error.message)
    }
  }

  get #isClosed(): boolean {
    return this.#state.is === 'closed'
  }

  #take(packet: Packet): void {
    const { is } = this.#state
    if (is === 'open') this.#state.listener.onPacket(packet)
    else if (is === 'waiting') this.#state.arrived.push(packet)
    else if (is === 'handshake') this.#receiveHello(packet, this.#state.first)
  }

  #receiveHello(packet: Packet, first: PromiseWithResolvers<Packet>): void {
    this.#reader.limit = maxPacket
    this.#state = { is: 'waiting', arrived: [] }
    this.#socket.pause()
    first.resolve(packet)
  }

  #drained(): void {
    if (!this.#needsDrain) return
    this.#needsDrain = false
    if (this.#state.is === 'open') this.#state.listener.onDrain()
  }
}
