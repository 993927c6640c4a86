/**
 * Gives a server the connections of its clients, by `server.emit('connection', socket)`, which Node
 * documents. Its own parser reads each request, and its own text is the response, so a program sees
 * and sends what it does under plain Node.
 */
import type { Socket } from 'node:net'
import { systemError } from '../mesh/sockets/system-error.ts'
import { markLost } from '../shared/lost-requests.ts'
import type { Bridge } from './bridge.ts'
import { ConnectionSocket } from './connection-socket.ts'
import { IdleClock } from './idle-clock.ts'
import { SecureConnectionSocket } from './secure-connection-socket.ts'
import { at, certificateIn, endsOf, flags, textStart, type Batch } from './records.ts'
import type { ExchangeId, Replies } from './replies.ts'
import { http2Window } from './windows.ts'

const crlf = Buffer.from('\r\n')

export class DuplexBridge implements Bridge {
  readonly values = false
  readonly #accept: (socket: Socket) => void
  readonly #replies: Replies
  readonly #clock = new IdleClock()
  readonly #sockets = new Map<number, ConnectionSocket>()

  /** `accept` passes a connection to the server. */
  constructor(accept: (socket: Socket) => void, replies: Replies) {
    this.#accept = accept
    this.#replies = replies
  }

  request(batch: Batch, record: number, id: ExchangeId): void {
    const { words, bytes } = batch
    const connection = words[record + at.connection]!
    const body = words[record + at.bodyLength]!
    const start = textStart(words, record)
    // Its parser keeps slices of it, and the batch is written over.
    const end = start + words[record + at.headLength]! + body
    const text = Buffer.allocUnsafe(end - start)
    bytes.copy(text, 0, start, end)
    let socket = this.#sockets.get(connection)
    if (socket === undefined || socket.destroyed || socket.writableEnded) socket = this.#connect(batch, record, id)
    else socket.begin(id)
    const stated = words[record + at.kind]! >>> 16
    socket.inChunks = (stated & flags.chunked) !== 0
    socket.isUpgrade = (stated & flags.upgrade) !== 0
    if ((stated & flags.lost) !== 0) markLost(socket)
    socket.receive(text, body)
  }

  body(connection: number, epoch: number, bytes: Buffer, _isLast: boolean, consumed: number): void {
    const socket = this.#sockets.get(connection)
    if (socket?.epoch === epoch) socket.receive(bytes, consumed)
  }

  bodyEnd(connection: number, epoch: number, trailers: Buffer): void {
    this.body(connection, epoch, trailers, true, 0)
  }

  /** Of a body whose framing was taken off. */
  piece(connection: number, epoch: number, bytes: Buffer, isLast: boolean, consumed: number): void {
    const socket = this.#sockets.get(connection)
    if (socket?.epoch !== epoch) return
    if (!socket.inChunks) return this.body(connection, epoch, bytes, isLast, consumed)
    const size = Buffer.from(`${bytes.length.toString(16)}\r\n`)
    socket.receive(Buffer.concat([size, bytes, crlf]), consumed)
  }

  lastPiece(connection: number, epoch: number, trailers: Buffer): void {
    this.body(connection, epoch, Buffer.concat([Buffer.from('0\r\n'), trailers, crlf]), true, 0)
  }

  credit(connection: number, epoch: number, length: number): void {
    const socket = this.#sockets.get(connection)
    if (socket?.epoch === epoch) socket.sent(length)
  }

  clientEnded(connection: number): void {
    this.#sockets.get(connection)?.receiveEnd()
  }

  closed(connection: number, isReset: boolean): void {
    this.#sockets.get(connection)?.receiveClose(isReset ? systemError('read', 'ECONNRESET') : undefined)
  }

  /** When no request is in flight: ends all but upgraded connections, which clients do not see. */
  forgetIdle(): void {
    for (const socket of this.#sockets.values()) if (!socket.isUpgrade) socket.forget()
  }

  #connect(batch: Batch, record: number, id: ExchangeId): ConnectionSocket {
    const connection = batch.words[record + at.connection]!
    const stated = batch.words[record + at.kind]! >>> 16
    const ends = endsOf(batch, record)
    const socket =
      (stated & flags.secure) === 0
        ? new ConnectionSocket(connection, id, ends, this.#replies, this.#clock)
        : new SecureConnectionSocket(connection, id, ends, this.#replies, this.#clock)
    const isStream = (stated & flags.http2) !== 0
    if (isStream) socket.window = http2Window
    if (socket instanceof SecureConnectionSocket) {
      if (isStream) socket.isStream()
      if ((stated & flags.certificate) !== 0) socket.showsCertificate(certificateIn(batch, record))
    }
    this.#sockets.set(connection, socket)
    socket.on('close', () => {
      if (this.#sockets.get(connection) === socket) this.#sockets.delete(connection)
    })
    this.#accept(socket)
    // A stream that has not read yet holds its first bytes back until the next tick. The handler
    // would then be called behind those of requests that came later.
    socket.read(0)
    return socket
  }
}
