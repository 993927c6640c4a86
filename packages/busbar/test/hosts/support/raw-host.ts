import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { protocolVersion } from '../../../src/mesh/links/frames/frame-encoder.ts'
import { maxPacket } from '../../../src/mesh/links/limits/limits.ts'
import { encodePacket, PacketReader } from '../../../src/mesh/transports/packet-codec.ts'

/** Frames that answer the call with this number. Undefined: it is not answered. */
type Answer = (path: string, call: number) => readonly unknown[] | undefined

/**
 * A host that exports a program by the protocol, and is not bound by its rules. It refuses what is
 * no HTTP request.
 */
export class RawHost implements AsyncDisposable {
  /** Connections that it has accepted. */
  links = 0
  readonly #server: Server
  readonly #service: string
  readonly #answer: Answer
  readonly #sockets = new Set<Socket>()

  private constructor(service: string, answer: Answer) {
    this.#service = service
    this.#answer = answer
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /** `answer` gets the path of each HTTP request. */
  static async open(service: string, answer: Answer): Promise<RawHost> {
    const host = new RawHost(service, answer)
    host.#server.listen(0, '127.0.0.1')
    await once(host.#server, 'listening')
    return host
  }

  get address(): { readonly protocol: 'tcp'; readonly host: string; readonly port: number } {
    return { protocol: 'tcp', host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port }
  }

  /** On every link. */
  send(frames: unknown): void {
    for (const socket of this.#sockets) sendOn(socket, frames)
  }

  #accept(socket: Socket): void {
    this.links++
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const reader = new PacketReader(maxPacket, ({ text }) => {
      const packet = JSON.parse(text) as unknown[]
      if (packet[0] === 'busbar-app')
        return sendOn(socket, ['busbar-app', protocolVersion, 'far', [[this.#service, 0]], ''])
      for (const frame of packet) this.#read(socket, frame as unknown[])
    })
    socket.on('data', (bytes: Buffer) => reader.push(bytes))
  }

  #read(socket: Socket, frame: unknown[]): void {
    const [type, call] = frame
    if (type === 8) return sendOn(socket, [[9]])
    // One call, or many of one head.
    const values = type === 1 ? [frame[11]] : type === 14 ? (frame[10] as unknown[]) : []
    for (const [at, value] of values.entries()) {
      const id = (call as number) + at
      const frames = frame[2] === http ? this.#answer((value as [string])[0], id) : [[5, -id, 1, 1, refusal]]
      if (frames !== undefined) sendOn(socket, frames)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    if (this.#server.listening) await once(this.#server, 'close')
  }
}

/** The kind of a call. */
const http = 2
const refusal = { code: 'SERVICE_UNAVAILABLE', message: 'only HTTP requests are answered' }

function sendOn(socket: Socket, frames: unknown): void {
  for (const piece of encodePacket({ text: JSON.stringify(frames), bytes: [] })) socket.write(piece)
}
