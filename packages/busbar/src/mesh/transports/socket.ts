/** What all transports over sockets share: packets as bytes, the hello, and when the other end is behind. */
import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import { type Hello, helloPacket, readHello } from '../links/hello.ts'
import { helloTime, maxHello, maxPacket, maxUnderWay } from '../links/limits.ts'
import { encodePacket, PacketReader } from '../links/packets.ts'
import { goneSilent, type Packet, type Pipe, type PipeListener, ProtocolError } from '../links/pipe.ts'

export interface Greeted {
  readonly pipe: Pipe
  /** The number that the other worker says it has. */
  readonly peer: number
}

/**
 * Exchanges hellos over a socket. Whoever dialled speaks first, and hears nothing of the app before it has shown that it
 * belongs to it. Rejects with LINK_LOST, and closes the socket, when the other is a stranger, speaks another version or
 * says nothing.
 */
export async function greet(socket: Socket, hello: Hello, dialled: boolean): Promise<Greeted> {
  const pipe = new SocketPipe(socket)
  const timer = setTimeout(() => pipe.fail('did not say hello in time'), helloTime)
  try {
    if (dialled) pipe.send(helloPacket(hello))
    const peer = readHello(await pipe.first(), hello.secret)
    if (!dialled) pipe.send(helloPacket(hello))
    return { pipe, peer }
  } catch (error) {
    // Without the secret: enough for one of another version to know why it is refused.
    if (!dialled) pipe.send(helloPacket({ ...hello, secret: '' }))
    pipe.close()
    throw new BusbarError('LINK_LOST', { message: `whoever is at the other end ${(error as Error).message}` })
  } finally {
    clearTimeout(timer)
  }
}

type State =
  | { readonly is: 'greeting'; readonly first: PromiseWithResolvers<Packet> }
  /** Nobody listens yet. What came in one slice with the hello waits, and nothing more is read. */
  | { readonly is: 'unheard'; readonly came: Packet[] }
  | { readonly is: 'open'; readonly listener: PipeListener }
  | { readonly is: 'closed' }

/** Milliseconds in which a closed pipe must have got rid of what was sent before. */
const lingering = 1_000

class SocketPipe implements Pipe {
  readonly #socket: Socket
  readonly #reader = new PacketReader(maxHello, (packet) => this.#take(packet))
  #state: State = { is: 'greeting', first: Promise.withResolvers() }
  #isBehind = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (slice: Buffer) => this.#read(slice))
    socket.on('drain', () => this.#drained())
    socket.once('error', (error: NodeJS.ErrnoException) =>
      this.fail(`is not reachable (${error.code ?? error.message})`),
    )
    socket.once('close', () => this.fail(goneSilent))
  }

  /** The hello. Rejects with what is wrong, in a sentence without a subject. */
  async first(): Promise<Packet> {
    if (this.#state.is === 'greeting') return await this.#state.first.promise
    throw new ProtocolError(goneSilent)
  }

  open(listener: PipeListener): void {
    const before = this.#state
    if (before.is !== 'unheard') return process.nextTick(() => listener.onClose(goneSilent))
    this.#state = { is: 'open', listener }
    for (const packet of before.came) listener.onPacket(packet)
    this.#socket.resume()
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'closed') return true
    const socket = this.#socket
    const pieces = encodePacket(packet)
    // One `writev` for all.
    if (pieces.length > 1) socket.cork()
    for (const piece of pieces) socket.write(piece)
    if (pieces.length > 1) socket.uncork()
    this.#isBehind = socket.writableLength > maxUnderWay
    return !this.#isBehind
  }

  close(): void {
    if (this.#state.is === 'closed') return
    this.fail(undefined)
    const socket = this.#socket
    socket.destroySoon()
    const timer = setTimeout(() => socket.destroy(), lingering)
    socket.once('close', () => clearTimeout(timer))
  }

  /** `reason`: undefined where it ends in order. */
  fail(reason: string | undefined): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    if (before.is === 'open') before.listener.onClose(reason)
    if (before.is === 'greeting') before.first.reject(new ProtocolError(reason))
    // Whatever comes from now on is nobody's.
    this.#socket.resume()
    if (reason !== undefined) this.#socket.destroy()
  }

  #read(slice: Buffer): void {
    if (this.#state.is === 'closed') return
    try {
      this.#reader.push(slice)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.fail(error.message)
    }
  }

  #take(packet: Packet): void {
    const { is } = this.#state
    if (is === 'open') this.#state.listener.onPacket(packet)
    else if (is === 'unheard') this.#state.came.push(packet)
    else if (is === 'greeting') this.#greeted(packet, this.#state.first)
  }

  #greeted(packet: Packet, first: PromiseWithResolvers<Packet>): void {
    this.#reader.limit = maxPacket
    this.#state = { is: 'unheard', came: [] }
    this.#socket.pause()
    first.resolve(packet)
  }

  #drained(): void {
    if (!this.#isBehind) return
    this.#isBehind = false
    if (this.#state.is === 'open') this.#state.listener.onDrain()
  }
}
