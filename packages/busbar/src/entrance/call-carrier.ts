import { X509Certificate } from 'node:crypto'
import { okTrailers } from '../contract/grpc/status-details.ts'
import { answerFields, type CarrierEvents, type GrpcCarrier, type GrpcPeer } from '../shared/entrance/grpc-carrier.ts'
import { creditReply, flags, headReply, trailersReply } from './records.ts'
import { type ExchangeId, maxPiece, type Replies } from './replies.ts'
import { http2CreditStep, http2Window } from './windows.ts'

type Fields = Readonly<Record<string, string>>

export interface CallCarrierParts {
  readonly headers: Fields
  readonly peer: GrpcPeer
  readonly whole: Uint8Array | undefined
  /** The number of its stream. */
  readonly connection: number
  readonly id: ExchangeId
  readonly replies: Replies
  /** The response is complete. */
  readonly onOver: (carrier: CallCarrier) => void
}

/** Carries a gRPC call on a stream of the native entrance. */
export class CallCarrier implements GrpcCarrier {
  readonly headers: Fields
  readonly peer: GrpcPeer
  readonly whole: Uint8Array | undefined
  readonly connection: number
  readonly #id: ExchangeId
  readonly #replies: Replies
  readonly #onOver: (carrier: CallCarrier) => void
  #events: CarrierEvents | undefined
  #state: 'open' | 'answering' | 'over' = 'open'
  /** Bytes that were written and that the kernel has not been seen to take. */
  #ahead = 0
  #isFull = false
  #isPaused = false
  /** Bytes that were received and not yet reported to the entrance as read. */
  #unread = 0

  constructor({ headers, peer, whole, connection, id, replies, onOver }: CallCarrierParts) {
    this.headers = headers
    this.peer = peer
    this.whole = whole
    this.connection = connection
    this.#id = id
    this.#replies = replies
    this.#onOver = onOver
  }

  attach(events: CarrierEvents): void {
    this.#events = events
  }

  respond(fields: Fields): void {
    if (this.#state !== 'open') return
    this.#state = 'answering'
    this.#replies.lines(headReply, this.#id, `200\r\n${linesOf(fields)}`, 0)
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state !== 'answering') return true
    this.#replies.message(this.#id, bytes)
    this.#ahead += bytes.length
    this.#isFull = this.#ahead >= http2Window
    return !this.#isFull
  }

  answer(framed: Uint8Array): void {
    if (this.#state !== 'open') return
    if (framed.length > maxPiece) {
      this.respond(answerFields)
      this.write(framed)
      return this.finish(okTrailers)
    }
    this.#replies.answer(this.#id, framed)
    this.#over()
  }

  finish(trailers: Fields): void {
    if (this.#state === 'over') return
    if (this.#state === 'open') {
      const lines = `200\r\n${linesOf(answerFields)}${linesOf(trailers)}`
      this.#replies.lines(headReply, this.#id, lines, flags.last)
    } else this.#replies.lines(trailersReply, this.#id, linesOf(trailers), 0)
    this.#over()
  }

  refuse(status: number, text: string): void {
    if (this.#state !== 'open') return
    this.#replies.lines(headReply, this.#id, `${status}\r\ncontent-type: text/plain; charset=utf-8\r\n`, 0)
    if (this.headers[':method'] !== 'HEAD') this.#replies.message(this.#id, Buffer.from(text))
    this.#replies.lines(trailersReply, this.#id, '', 0)
    this.#over()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#acknowledge()
  }

  // The entrance's side

  /** Until the response is complete, or the client is gone. */
  get isOpen(): boolean {
    return this.#state !== 'over'
  }

  get epoch(): number {
    return this.#id.epoch
  }

  /** `consumed`: how many of these bytes the entrance counts. */
  receive(bytes: Uint8Array, consumed: number): void {
    this.#events?.onData(bytes)
    this.read(consumed)
  }

  /** The call has these bytes. */
  read(consumed: number): void {
    this.#unread += consumed
    this.#acknowledge()
  }

  receiveEnd(): void {
    this.#events?.onEnd()
  }

  sent(length: number): void {
    this.#ahead = Math.max(0, this.#ahead - length)
    if (!this.#isFull || this.#ahead >= http2Window) return
    this.#isFull = false
    this.#events?.onDrain()
  }

  closed(): void {
    this.#state = 'over'
    this.#events?.onClose()
  }

  /** The entrance sends nothing more about it. */
  #over(): void {
    this.#state = 'over'
    this.#onOver(this)
  }

  #acknowledge(): void {
    if (this.#isPaused || this.#unread < http2CreditStep) return
    this.#replies.signal(creditReply, this.#id, this.#unread)
    this.#unread = 0
  }
}

function linesOf(fields: Fields): string {
  let lines = ''
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines
}

/** What a call may ask of its client's connection. */
export function peerOf(remoteAddress: string, encrypted: boolean, der: Buffer | undefined): GrpcPeer {
  if (der === undefined) return { remoteAddress, encrypted }
  // The handshake has checked it.
  return { remoteAddress, encrypted, authorized: true, getPeerX509Certificate: () => new X509Certificate(der) }
}
