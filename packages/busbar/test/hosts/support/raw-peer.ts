import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { protocolVersion } from '../../../src/mesh/links/frames/frame-encoder.ts'
import { maxPacket } from '../../../src/mesh/links/limits/limits.ts'
import { encodePacket, PacketReader } from '../../../src/mesh/transports/packet-codec.ts'
import type { Identity } from '../../../src/shared/hosts.ts'

/** A peer that speaks the protocol, and is not bound by its rules. */
export class RawPeer implements AsyncDisposable {
  readonly socket: Socket
  readonly closed: Promise<void>
  isClosed = false
  readonly #frames: unknown[][] = []
  readonly #reader = new PacketReader(
    maxPacket,
    ({ text }) => void this.#frames.push(...(JSON.parse(text) as unknown[][])),
  )

  private constructor(port: number, identity: Identity | undefined) {
    const options = { host: '127.0.0.1', port }
    this.socket = identity === undefined ? connectTcp(options) : connectTls({ ...options, ...identity })
    this.socket.on('data', (bytes: Buffer) => this.#reader.push(bytes)).on('error', () => {})
    this.closed = new Promise((resolve) =>
      this.socket.once('close', () => {
        this.isClosed = true
        resolve()
      }),
    )
  }

  /**
   * `identity`: over TLS. `version`: of the protocol. `app`: its name. Resolves when the host has
   * answered, or has closed the connection.
   */
  static async open(
    port: number,
    identity?: Identity,
    version: number = protocolVersion,
    app = 'raw',
  ): Promise<RawPeer> {
    const peer = new RawPeer(port, identity)
    peer.send(['busbar-app', version, app, []])
    while (peer.#frames.length === 0 && !peer.isClosed) await new Promise((resolve) => setTimeout(resolve, 2))
    return peer
  }

  static callFrame(id: number, input: unknown, method = 'write'): unknown[] {
    return [1, id, 0, 1, 'shop', method, 0, 0, -1, 0, 1, input]
  }

  call(id: number, input: unknown = 1): void {
    this.send([RawPeer.callFrame(id, input)])
  }

  /** Resolves when the host has read all that was sent. */
  async read(): Promise<void> {
    const isPong = (frame: unknown[]): boolean => frame[0] === 9
    const before = this.#frames.filter(isPong).length
    this.send([[8]])
    await this.frames(isPong, before + 1)
  }

  /** Calls of the peer that the host has refused. */
  get refused(): unknown[][] {
    return this.#frames.filter((frame) => frame[0] === 5)
  }

  /** Resolves when the kernel has taken what was sent, or the link has ended. */
  async flushed(): Promise<void> {
    while (this.socket.writableLength > 0 && !this.socket.destroyed)
      await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise((resolve) => setImmediate(resolve))
  }

  send(frames: unknown): void {
    this.sendText(JSON.stringify(frames))
  }

  sendText(text: string): void {
    for (const piece of encodePacket({ text, bytes: [] })) this.socket.write(piece)
  }

  /** A part of a packet of 60 MiB. */
  sendPart(bytes: number): void {
    const part = Buffer.alloc(bytes)
    part.writeUInt32LE(60 * 1024 ** 2)
    this.socket.write(part)
  }

  /** Resolves when so many frames of a kind have arrived. */
  async frames(wanted: (frame: unknown[]) => boolean, count: number): Promise<unknown[][]> {
    for (;;) {
      const found = this.#frames.filter(wanted)
      if (found.length >= count) return found
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy()
    await this.closed
  }
}
