import { answerReply, dataReply, flags as known, messageReply, wordsOfReply } from './records.ts'
import type { EntranceChannel } from './load.ts'

/** Which request a reply is of. */
export interface ExchangeId {
  /** The I/O thread, where it is in a record's second word. */
  readonly thread: number
  readonly slot: number
  readonly epoch: number
}

/** A longer piece becomes several records. */
export const maxPiece = 128 * 1024
/** So many replies do not wait for those behind them: the entrance sends them meanwhile. */
const sentAhead = 8

/** All replies of a turn of the event loop go back in one batch. */
export class Replies {
  readonly #channel: EntranceChannel
  readonly #words: Int32Array
  readonly #bytes: Buffer
  /** In bytes. */
  #end = 0
  /** Complete answers in it. */
  #waiting = 0
  #scheduled = false
  #isClosed = false
  /** Of the record that is open, or was the last. */
  #start = 0
  /** Of that one, if it has bytes. */
  #last: ExchangeId | undefined
  #lastFlags = 0
  readonly #flush = (): void => {
    this.#scheduled = false
    this.flush()
  }

  constructor(channel: EntranceChannel) {
    this.#channel = channel
    const memory = channel.replies()
    this.#words = new Int32Array(memory)
    this.#bytes = Buffer.from(memory)
  }

  flush(): void {
    this.#waiting = 0
    if (this.#end === 0) return
    if (!this.#isClosed) this.#channel.send(this.#end)
    this.#end = 0
  }

  /** Nothing is sent from now on. */
  close(): void {
    this.flush()
    this.#isClosed = true
  }

  /** Without bytes. */
  signal(kind: number, id: ExchangeId, value: number): void {
    this.#open(kind, id, 0, 0)
    this.#words[this.#start / 4 + 4] = value
    this.#close()
  }

  /** The number of bytes. */
  data(id: ExchangeId, chunk: string | Uint8Array, encoding: BufferEncoding, flags = 0): number {
    return typeof chunk === 'string'
      ? this.#text(id, chunk, encoding, flags)
      : this.#pieces(dataReply, id, chunk, flags)
  }

  /** A head in Latin-1, with what comes behind it. */
  headAnd(id: ExchangeId, head: string, chunk: string | Uint8Array, flags: number): number {
    const room = head.length + chunk.length * (typeof chunk === 'string' ? 3 : 1)
    if (room > maxPiece) {
      const length = this.data(id, head, 'latin1')
      return length + this.data(id, chunk, 'utf8', flags)
    }
    this.#open(dataReply, id, flags, room)
    const bytes = this.#bytes
    let length = bytes.write(head, this.#end, 'latin1')
    if (typeof chunk === 'string') length += bytes.write(chunk, this.#end + length, 'utf8')
    else {
      bytes.set(chunk, this.#end + length)
      length += chunk.length
    }
    this.#append(length)
    return length
  }

  /** Lines of fields, in Latin-1. */
  lines(kind: number, id: ExchangeId, lines: string, flags: number): void {
    this.#open(kind, id, flags, lines.length)
    this.#append(this.#bytes.write(lines, this.#end, 'latin1'))
  }

  /** Bytes of a gRPC call's messages. */
  message(id: ExchangeId, chunk: Uint8Array): void {
    this.#pieces(messageReply, id, chunk, 0)
  }

  /** The only message of a gRPC call, of at most {@link maxPiece} bytes, and its success. */
  answer(id: ExchangeId, framed: Uint8Array): void {
    this.#open(answerReply, id, 0, framed.length)
    this.#bytes.set(framed, this.#end)
    this.#append(framed.length)
    if (++this.#waiting >= sentAhead) this.flush()
  }

  #text(id: ExchangeId, chunk: string, encoding: BufferEncoding, flags: number): number {
    // No character has more than three bytes in any encoding.
    if (chunk.length * 3 > maxPiece) return this.#pieces(dataReply, id, Buffer.from(chunk, encoding), flags)
    this.#open(dataReply, id, flags, chunk.length * 3)
    const length = this.#bytes.write(chunk, this.#end, encoding)
    this.#append(length)
    return length
  }

  #pieces(kind: number, id: ExchangeId, chunk: Uint8Array, flags: number): number {
    let at = 0
    do {
      const end = Math.min(at + maxPiece, chunk.length)
      // Only the last piece can end a response. What the bytes are holds for all.
      this.#open(kind, id, end === chunk.length ? flags : flags & known.text, end - at)
      this.#bytes.set(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end), this.#end)
      this.#append(end - at)
      at = end
    } while (at < chunk.length)
    return chunk.length
  }

  /**
   * A piece right behind another one of the same exchange joins that: they become one write to the
   * kernel.
   */
  #open(kind: number, id: ExchangeId, flags: number, room: number): void {
    if (this.#end + wordsOfReply * 4 + room + 4 > this.#bytes.length) this.flush()
    if (kind === dataReply && id === this.#last && this.#mayJoin(flags)) {
      const record = this.#start / 4
      this.#end = this.#start + wordsOfReply * 4 + this.#words[record + 4]!
      this.#words[record + 1]! |= flags << 16
      this.#lastFlags |= flags
      return
    }
    this.#last = kind === dataReply ? id : undefined
    this.#lastFlags = flags
    const { thread, slot, epoch } = id
    const word = this.#end / 4
    this.#start = this.#end
    this.#words[word + 1] = kind | thread | (flags << 16)
    this.#words[word + 2] = slot
    this.#words[word + 3] = epoch
    this.#words[word + 4] = 0
    this.#end += wordsOfReply * 4
  }

  #mayJoin(flags: number): boolean {
    return this.#end > 0 && ((flags ^ this.#lastFlags) & known.text) === 0 && (this.#lastFlags & known.last) === 0
  }

  #append(length: number): void {
    this.#words[this.#start / 4 + 4]! += length
    this.#end += length
    this.#close()
  }

  #close(): void {
    this.#end = (this.#end + 3) & ~3
    this.#words[this.#start / 4] = this.#end - this.#start
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#flush)
  }
}
