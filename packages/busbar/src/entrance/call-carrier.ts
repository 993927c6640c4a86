import { X509Certificate } from 'node:crypto'
import type { CarrierEvents, GrpcCarrier, GrpcPeer } from '../shared/grpc-carrier.ts'
import { http2Window } from './connection-socket.ts'
import { creditReply, flags, headReply, trailersReply } from './records.ts'
import type { ExchangeId, Replies } from './replies.ts'

type Fields = Readonly<Record<string, string>>

/** The entrance learns of consumed bytes in steps of this, a quarter of what it sends ahead. */
const creditStep = 64 * 1024

/** Carries a gRPC call on a stream of the native entrance. */
export class CallCarrier implements GrpcCarrier {
  readonly headers: Fields
  readonly peer: GrpcPeer
  readonly #id: ExchangeId
  readonly #replies: Replies
  #events: CarrierEvents | undefined
  #state: 'open' | 'answering' | 'over' = 'open'
  /** Bytes that were written and that the kernel has not been seen to take. */
  #ahead = 0
  #isFull = false
  #isPaused = false
  /** Bytes that were received and not yet reported to the entrance as read. */
  #unread = 0

  constructor(headers: Fields, peer: GrpcPeer, id: ExchangeId, replies: Replies) {
    this.headers = headers
    this.peer = peer
    this.#id = id
    this.#replies = replies
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

  finish(trailers: Fields): void {
    const isWhole = this.#state === 'open'
    if (this.#state === 'over') return
    this.#state = 'over'
    if (isWhole) this.#replies.lines(headReply, this.#id, `200\r\n${grpcType}${linesOf(trailers)}`, flags.last)
    else this.#replies.lines(trailersReply, this.#id, linesOf(trailers), 0)
  }

  refuse(status: number, text: string): void {
    if (this.#state !== 'open') return
    this.#state = 'over'
    this.#replies.lines(headReply, this.#id, `${status}\r\ncontent-type: text/plain; charset=utf-8\r\n`, 0)
    if (this.headers[':method'] !== 'HEAD') this.#replies.message(this.#id, Buffer.from(text))
    this.#replies.lines(trailersReply, this.#id, '', 0)
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#acknowledge()
  }

  // The entrance's side

  get epoch(): number {
    return this.#id.epoch
  }

  /** `consumed`: how many of these bytes the entrance counts. */
  receive(bytes: Uint8Array, consumed: number): void {
    this.#unread += consumed
    this.#events?.onData(bytes)
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

  #acknowledge(): void {
    if (this.#isPaused || this.#unread < creditStep) return
    this.#replies.signal(creditReply, this.#id, this.#unread)
    this.#unread = 0
  }
}

const grpcType = 'content-type: application/grpc\r\n'

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
