/**
 * Gives a program's requests to its server as values, without text and parser, where an exchange
 * does that exactly. All others go through the {@link DuplexBridge}. The product uses only that
 * one: docs/decisions/expose/entrance.md has the measurement of both.
 */
import { maxForwardedHead } from '../../packages/busbar/src/mesh/http/exchange.ts'
import type {
  Exchange,
  ExchangeHandler,
  ExchangeRequest,
  ResponseHead,
} from '../../packages/busbar/src/mesh/http/exchange.ts'
import type { Exchanges } from '../../packages/busbar/src/mesh/mesh-context.ts'
import type { LocalEndpoint } from '../../packages/busbar/src/mesh/routing/endpoint.ts'
import type { Bridge } from '../../packages/busbar/src/entrance/bridge.ts'
import { DuplexBridge } from '../../packages/busbar/src/entrance/duplex-bridge.ts'
import {
  at,
  creditReply,
  flags,
  destroyedReply,
  wordsOfField,
  type Batch,
} from '../../packages/busbar/src/entrance/records.ts'
import type { ExchangeId, Replies } from '../../packages/busbar/src/entrance/replies.ts'

export class ExchangeBridge implements Bridge {
  readonly values = true
  readonly #exchanges: Exchanges
  readonly #endpoint: LocalEndpoint
  readonly #replies: Replies
  readonly #duplex: DuplexBridge
  readonly #open = new Map<number, EntranceExchange>()
  readonly #heads: EntranceExchange[] = []
  readonly #flushHeads = (): void => {
    for (const exchange of this.#heads.splice(0)) exchange.flushHead()
  }

  constructor(exchanges: Exchanges, endpoint: LocalEndpoint, replies: Replies) {
    this.#exchanges = exchanges
    this.#endpoint = endpoint
    this.#replies = replies
    this.#duplex = new DuplexBridge((socket) => endpoint.server.emit('connection', socket), replies)
  }

  request(batch: Batch, record: number, id: ExchangeId): void {
    const { words } = batch
    const connection = words[record + at.connection]!
    const stated = words[record + at.kind]! >>> 16
    const plain = (stated & (flags.upgrade | flags.is10)) === 0
    const request = plain ? requestIn(batch, record, (stated & flags.more) !== 0) : undefined
    if (request !== undefined) {
      const handler = new EntranceExchange(id, request.method === 'HEAD', this.#replies, this)
      const scope = { service: this.#endpoint.service, hops: 0 }
      const exchange = this.#exchanges.open(this.#endpoint, request, scope, handler)
      if (exchange !== undefined) {
        handler.exchange = exchange
        this.#open.set(connection, handler)
        const length = words[record + at.bodyLength]!
        if (request.streamed && length > 0) handler.body(Buffer.from(bodyIn(batch, record, length)), false, length)
        return
      }
    }
    this.#open.delete(connection)
    this.#duplex.request(batch, record, id)
  }

  body(connection: number, epoch: number, bytes: Buffer, isLast: boolean, consumed: number): void {
    const handler = this.#open.get(connection)
    if (handler === undefined) return this.#duplex.piece(connection, epoch, bytes, isLast, consumed)
    if (handler.id.epoch === epoch) handler.body(bytes, isLast, consumed)
  }

  bodyEnd(connection: number, epoch: number, trailers: Buffer): void {
    const handler = this.#open.get(connection)
    if (handler === undefined) return this.#duplex.lastPiece(connection, epoch, trailers)
    if (handler.id.epoch === epoch) handler.exchange?.end(fieldsIn(trailers))
  }

  credit(connection: number, epoch: number, length: number): void {
    const handler = this.#open.get(connection)
    if (handler === undefined) return this.#duplex.credit(connection, epoch, length)
    if (handler.id.epoch === epoch) handler.sent(length)
  }

  clientEnded(connection: number): void {
    this.#duplex.clientEnded(connection)
  }

  closed(connection: number, isReset: boolean): void {
    const handler = this.#open.get(connection)
    this.#open.delete(connection)
    handler?.exchange?.abort()
    this.#duplex.closed(connection, isReset)
  }

  /** Most answers are whole by the end of the turn, and then go in one piece. */
  flushHeadSoon(exchange: EntranceExchange): void {
    if (this.#heads.push(exchange) === 1) setImmediate(this.#flushHeads)
  }
}

/** As much as a program may write ahead of its client. */
const window = 256 * 1024

class EntranceExchange implements ExchangeHandler {
  readonly id: ExchangeId
  exchange: Exchange | undefined
  readonly #isHeadRequest: boolean
  readonly #replies: Replies
  readonly #bridge: ExchangeBridge
  /** Not sent yet. */
  #head = ''
  #chunk: string | Uint8Array = ''
  #isHeadHeld = false
  #hasHead = false
  #chunked = false
  #close = false
  #ahead = 0
  #isPaused = false
  #unconsumed = 0

  constructor(id: ExchangeId, isHeadRequest: boolean, replies: Replies, bridge: ExchangeBridge) {
    this.id = id
    this.#isHeadRequest = isHeadRequest
    this.#replies = replies
    this.#bridge = bridge
  }

  /** `consumed`: what Rust counts for these bytes. */
  body(bytes: Buffer, isLast: boolean, consumed: number): void {
    const { exchange } = this
    this.#unconsumed += consumed
    if (exchange?.write(bytes) !== false) this.onDrain()
    if (isLast) exchange?.end()
  }

  onDrain(): void {
    if (this.#unconsumed === 0) return
    this.#replies.signal(creditReply, this.id, this.#unconsumed)
    this.#unconsumed = 0
  }

  sent(length: number): void {
    this.#ahead = Math.max(0, this.#ahead - length)
    if (!this.#isPaused || this.#ahead >= window) return
    this.#isPaused = false
    this.exchange?.resume()
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    let text = `HTTP/1.1 ${status} ${reasons[status] ?? ''}\r\n`
    for (const [name, values] of Object.entries(headers))
      for (const value of [values].flat()) text += `${name}: ${value}\r\n`
    this.#replies.data(this.id, `${text}\r\n`, 'latin1')
  }

  onHead({ status, statusText, rawHeaders = [] }: ResponseHead): void {
    let text = `HTTP/1.1 ${status} ${statusText}\r\n`
    let isBounded = this.#isHeadRequest || status === 204 || status === 304
    const hasBody = !isBounded
    for (let n = 0; n < rawHeaders.length; n += 2) {
      const [name, value] = [rawHeaders[n]!, rawHeaders[n + 1]!]
      text += `${name}: ${value}\r\n`
      switch (name.length) {
        case 10:
          if (name.toLowerCase() === 'connection') this.#close ||= closing.test(value)
          break
        case 14:
          if (name.toLowerCase() === 'content-length') isBounded = true
          break
        case 17:
          if (name.toLowerCase() === 'transfer-encoding') this.#chunked = hasBody
      }
    }
    this.#close ||= !isBounded && !this.#chunked
    this.#head = `${text}\r\n`
    this.#hasHead = true
    this.#isHeadHeld = true
    this.#bridge.flushHeadSoon(this)
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#isHeadHeld && this.#chunk.length === 0 && !this.#chunked) {
      this.#chunk = chunk
      return true
    }
    this.flushHead()
    if (this.#chunked) this.#sendChunk(chunk)
    else this.#ahead += this.#replies.data(this.id, chunk, 'utf8')
    this.#isPaused = this.#ahead >= window
    return !this.#isPaused
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    const last = flags.last | (this.#close ? flags.close : 0)
    if (this.#isHeadHeld && !this.#chunked) {
      this.#isHeadHeld = false
      this.#replies.headAnd(this.id, this.#head, this.#chunk, last)
      return
    }
    this.flushHead()
    this.#replies.data(this.id, this.#chunked ? `0\r\n${linesOf(trailers)}\r\n` : '', 'latin1', last)
  }

  onError(): void {
    this.flushHead()
    this.#replies.signal(destroyedReply, this.id, 0)
  }

  flushHead(): void {
    if (!this.#isHeadHeld) return
    this.#isHeadHeld = false
    if (this.#hasHead) this.#ahead += this.#replies.headAnd(this.id, this.#head, this.#chunk, 0)
    this.#chunk = ''
  }

  #sendChunk(chunk: Uint8Array | string): void {
    const size = `${Buffer.byteLength(chunk).toString(16)}\r\n`
    this.#ahead += this.#replies.headAnd(this.id, size, chunk, 0) + this.#replies.data(this.id, '\r\n', 'latin1')
  }
}

const closing = /(?:^|\W)close(?:$|\W)/i
const reasons: Readonly<Record<number, string>> = { 100: 'Continue', 102: 'Processing', 103: 'Early Hints' }

function requestIn({ words, bytes }: Batch, record: number, streamed: boolean): ExchangeRequest {
  const count = words[record + at.fieldCount]!
  const table = record + at.fields
  const start = (table + count * wordsOfField) * 4
  const end = start + words[record + at.headLength]!
  const text = bytes.toString('latin1', start, end)
  const part = (word: number): string => {
    const from = words[word]!
    return text.slice(from, from + words[word + 1]!)
  }
  const rawHeaders: string[] = []
  for (let n = 0; n < count * wordsOfField; n += 2) rawHeaders.push(part(table + n))
  const length = words[record + at.bodyLength]!
  const body = !streamed && length > 0 ? bytes.subarray(end, end + length) : null
  const [method, path] = [part(record + at.method), part(record + at.target)]
  return { method, path, rawHeaders, body, streamed, maxResponseHead: maxForwardedHead }
}

function bodyIn({ words, bytes }: Batch, record: number, length: number): Buffer {
  const fields = words[record + at.fieldCount]! * wordsOfField
  const start = (record + at.fields + fields) * 4 + words[record + at.headLength]!
  return bytes.subarray(start, start + length)
}

function fieldsIn(trailers: Buffer): string[] {
  const lines = trailers.toString('latin1').split('\r\n')
  return lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return colon === -1 ? [] : [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
}

function linesOf(trailers: Readonly<Record<string, string | string[]>>): string {
  return Object.entries(trailers)
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`))
    .join('')
}
