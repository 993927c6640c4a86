import type { HttpCarrier } from '../shared/entrance/http-carrier.ts'
import { at, type Batch, destroyedReply, endReply, flags, remoteAddressOf, textStart } from './records.ts'
import type { ExchangeId, Replies } from './replies.ts'
import { copied, http2Window, window } from './windows.ts'

/**
 * Milliseconds without progress after which a client that has closed its half of the connection
 * counts as gone, as for a connection of the gateway (`gateway/connection.ts`).
 */
const stallTime = 5000
const nothing = Buffer.alloc(0)

/** Carries a request of the native entrance, and its response. */
export class RequestCarrier implements HttpCarrier {
  readonly method: string
  readonly url: string
  readonly fields: string
  readonly headLength: number
  readonly bodyLength: number
  readonly connection: number
  onClosed: (() => void) | undefined = undefined
  /** Until the response is complete, or the client is gone. */
  isOpen = true
  readonly #batch: Batch
  readonly #record: number
  readonly #id: ExchangeId
  readonly #replies: Replies
  readonly #onOver: (carrier: RequestCarrier) => void
  /** What the client has not made room for. */
  #rest: Buffer = nothing
  /** Bytes of the response that are not with the kernel, as far as is known. */
  #ahead = 0
  readonly #window: number
  #progress = 0
  #stall: NodeJS.Timeout | undefined

  constructor(
    batch: Batch,
    record: number,
    id: ExchangeId,
    replies: Replies,
    onOver: (carrier: RequestCarrier) => void,
  ) {
    const { words, bytes } = batch
    const start = textStart(words, record)
    this.headLength = words[record + at.headLength]!
    this.bodyLength = words[record + at.bodyLength]!
    this.connection = words[record + at.connection]!
    const head = bytes.toString('latin1', start, start + this.headLength)
    const target = words[record + at.target]!
    const targetEnd = target + words[record + at.target + 1]!
    this.method = head.substr(words[record + at.method]!, words[record + at.method + 1])
    this.url = head.slice(target, targetEnd)
    this.fields = head.slice(head.indexOf('\n', targetEnd) + 1)
    this.#window = ((words[record + at.kind]! >>> 16) & flags.http2) === 0 ? window : http2Window
    this.#batch = batch
    this.#record = record
    this.#id = id
    this.#replies = replies
    this.#onOver = onOver
  }

  get body(): Buffer {
    const { words, bytes } = this.#batch
    const start = textStart(words, this.#record) + this.headLength
    return bytes.subarray(start, start + this.bodyLength)
  }

  get remoteAddress(): string {
    return remoteAddressOf(this.#batch, this.#record)
  }

  get isEncrypted(): boolean {
    return ((this.#batch.words[this.#record + at.kind]! >>> 16) & flags.secure) !== 0
  }

  answer(text: string, encoding: 'latin1' | 'utf8'): void {
    if (!this.isOpen) return
    if (text.length <= copied) {
      this.#replies.data(this.#id, text, encoding, flags.text)
      return this.#over()
    }
    this.#rest = Buffer.from(text, encoding)
    this.#pass()
  }

  reset(): void {
    if (!this.isOpen) return
    this.#replies.signal(destroyedReply, this.#id, 0)
    this.#over()
  }

  // The entrance's side

  get epoch(): number {
    return this.#id.epoch
  }

  sent(length: number): void {
    this.#ahead = Math.max(0, this.#ahead - length)
    this.#pass()
  }

  clientEnded(): void {
    this.#stall ??= setInterval(() => this.#checkProgress(), stallTime)
  }

  closed(): void {
    if (!this.isOpen) return
    this.#over()
    this.onClosed?.()
  }

  #checkProgress(): void {
    const progress = this.#progress
    this.#progress = 0
    if (progress > 0) return
    this.#replies.signal(endReply, this.#id, 0)
    this.closed()
  }

  /** As much as the client has room for. */
  #pass(): void {
    if (this.#rest.length === 0) return
    const part = this.#rest.subarray(0, Math.max(0, this.#window - this.#ahead))
    if (part.length === 0) return
    this.#rest = this.#rest.subarray(part.length)
    this.#ahead += this.#replies.data(this.#id, part, 'latin1', flags.text)
    this.#progress += part.length
    if (this.#rest.length === 0) this.#over()
  }

  #over(): void {
    this.isOpen = false
    this.#rest = nothing
    clearInterval(this.#stall)
    this.#onOver(this)
  }
}
