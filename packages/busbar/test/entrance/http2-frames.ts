/** Frames of HTTP/2 as bytes, for what no library would send, and a client that sends them. */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect } from 'node:tls'

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** `payload`: its bytes. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array | readonly number[]): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

export const settings = frame(frameType.settings, 0, 0, [])

/** `GET /` of authority `a`, from the static table of HPACK. */
export const getBlock = [0x82, 0x87, 0x84, 0x41, 1, 0x61]
export const endStream = 1
export const endHeaders = 4

export function get(stream: number, block: readonly number[] = getBlock): Buffer {
  return frame(frameType.headers, endStream | endHeaders, stream, block)
}

/** A whole request with the length of a body that it does not have. */
export function malformed(stream: number): Buffer {
  return get(stream, [...getBlock, ...literal('content-length', '5')])
}

export function word(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}

/** A field as a literal. `isIndexed`: it enters the dynamic table, and is referred to by 62. */
export function literal(name: string, value: string, isIndexed = false): number[] {
  return [isIndexed ? 0x40 : 0, ...text(name), ...text(value)]
}

function text(value: string): number[] {
  return [...integer(value.length, 127), ...Buffer.from(value)]
}

function integer(value: number, prefix: number): number[] {
  if (value < prefix) return [value]
  const bytes = [prefix]
  for (let rest = value - prefix; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 128)
  }
}

export class FrameClient {
  readonly socket: Socket
  readonly closed: Promise<void>
  /** Of the GOAWAY, once it has come. */
  goaway: number | undefined
  /** The last streams of all GOAWAYs. */
  readonly lastStreams: number[] = []
  /** The contents of the server's PINGs. */
  readonly pings: Buffer[] = []
  /** Streams that the server has ended. */
  readonly ended = new Set<number>()
  /** What has come of the responses' bodies, by stream; no more than their beginnings. */
  readonly bodies = new Map<number, string>()
  /** Frames that have come, by type. */
  readonly seen = new Map<number, number>()
  #input = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
  }

  static async open(port: number, ca: string | Buffer): Promise<FrameClient> {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    return new FrameClient(socket)
  }

  /** Without TLS. */
  static async openPlain(port: number): Promise<FrameClient> {
    const socket = connectPlain({ port, host: '127.0.0.1' })
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new FrameClient(socket)
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && this.goaway === undefined
  }

  /** Resolves when the bytes are with the kernel, or the connection has ended. */
  async send(...frames: readonly Uint8Array[]): Promise<void> {
    if (this.socket.destroyed || this.socket.writableEnded) return
    await new Promise<void>((resolve) => {
      this.socket.write(Buffer.concat(frames), () => resolve())
      void this.closed.then(resolve)
    })
  }

  #read(bytes: Buffer): void {
    this.#input = Buffer.concat([this.#input, bytes])
    while (this.#input.length >= 9) {
      const length = this.#input.readUIntBE(0, 3)
      if (this.#input.length < 9 + length) return
      const type = this.#input[3]!
      this.seen.set(type, (this.seen.get(type) ?? 0) + 1)
      this.#frame(type, this.#input[4]!, this.#input.readUInt32BE(5), this.#input.subarray(9, 9 + length))
      this.#input = this.#input.subarray(9 + length)
    }
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === frameType.goaway) {
      this.goaway ??= payload.readUInt32BE(4)
      this.lastStreams.push(payload.readUInt32BE(0))
    }
    const body = this.bodies.get(stream) ?? ''
    if (type === frameType.data && body.length < 1000) this.bodies.set(stream, body + payload.toString('latin1'))
    if (type === frameType.ping && (flags & 1) === 0) this.pings.push(Buffer.from(payload))
    const mayEnd = type === frameType.data || type === frameType.headers
    if (mayEnd && (flags & endStream) !== 0) this.ended.add(stream)
  }
}
