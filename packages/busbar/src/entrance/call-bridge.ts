import type { GrpcCarrier } from '../shared/entrance/grpc-carrier.ts'
import { CallCarrier, peerOf } from './call-carrier.ts'
import { at, type Batch, certificateIn, flags, remoteAddressOf, textStart, wordsOfField } from './records.ts'
import type { ExchangeId, Replies } from './replies.ts'

/** Gives each gRPC call of the entrance to the gateway, without a connection or a parser. */
export class CallBridge {
  readonly #serve: (carrier: GrpcCarrier) => void
  readonly #replies: Replies
  /** Those that were not answered at once. */
  readonly #calls = new Map<number, CallCarrier>()
  readonly #forget = ({ connection }: CallCarrier): void => void this.#calls.delete(connection)
  /** The last heads, each at a position by its length: a client often sends the same again. */
  readonly #heads: (KnownHead | undefined)[] = Array.from({ length: 64 })

  constructor(serve: (carrier: GrpcCarrier) => void, replies: Replies) {
    this.#serve = serve
    this.#replies = replies
  }

  /** Whether the records of this stream are for {@link CallBridge}. */
  has(connection: number): boolean {
    return this.#calls.has(connection)
  }

  request(batch: Batch, record: number, id: ExchangeId): void {
    const { words } = batch
    const stated = words[record + at.kind]! >>> 16
    const certificate = (stated & flags.certificate) === 0 ? undefined : certificateIn(batch, record)
    const peer = peerOf(remoteAddressOf(batch, record), (stated & flags.secure) !== 0, certificate)
    const hasMore = (stated & flags.more) !== 0
    const body = bodyIn(batch, record)
    const carrier = new CallCarrier({
      headers: this.#headersIn(batch, record),
      peer,
      whole: hasMore ? undefined : body,
      connection: words[record + at.connection]!,
      id,
      replies: this.#replies,
      onOver: this.#forget,
    })
    try {
      this.#serve(carrier)
    } finally {
      if (carrier.isOpen) this.#calls.set(carrier.connection, carrier)
    }
    if (!carrier.isOpen) return
    // The area is written again once the batch is done.
    if (hasMore && body.length > 0) carrier.receive(Buffer.from(body), body.length)
    else carrier.read(body.length)
  }

  body(connection: number, epoch: number, bytes: Buffer, consumed: number): void {
    const carrier = this.#calls.get(connection)
    if (carrier?.epoch === epoch) carrier.receive(bytes, consumed)
  }

  credit(connection: number, epoch: number, length: number): void {
    const carrier = this.#calls.get(connection)
    if (carrier?.epoch === epoch) carrier.sent(length)
  }

  clientEnded(connection: number): void {
    this.#calls.get(connection)?.receiveEnd()
  }

  closed(connection: number): void {
    const carrier = this.#calls.get(connection)
    this.#calls.delete(connection)
    carrier?.closed()
  }

  #headersIn({ words, bytes }: Batch, record: number): Fields {
    const start = textStart(words, record)
    const text = bytes.toString('latin1', start, start + words[record + at.headLength]!)
    const known = this.#heads[text.length % this.#heads.length]
    if (known !== undefined && known.text === text) return known.headers
    const headers = headersOf(text, words, record)
    if (text.length <= maxKept) this.#heads[text.length % this.#heads.length] = { text, headers }
    return headers
  }
}

/** What has come of the body, in the batch's own memory. */
function bodyIn({ words, bytes }: Batch, record: number): Buffer {
  const start = textStart(words, record) + words[record + at.headLength]!
  return bytes.subarray(start, start + words[record + at.bodyLength]!)
}

interface KnownHead {
  readonly text: string
  readonly headers: Fields
}

type Fields = Readonly<Record<string, string>>

/** In characters. Longer heads are not kept. */
const maxKept = 2048

function headersOf(text: string, words: Int32Array, record: number): Fields {
  const part = (word: number): string => text.substr(words[word]!, words[word + 1])
  const headers: Record<string, string> = { ':method': part(record + at.method), ':path': part(record + at.target) }
  const end = record + at.fields + words[record + at.fieldCount]! * wordsOfField
  for (let field = record + at.fields; field < end; field += wordsOfField) {
    const name = part(field)
    const value = part(field + 2)
    // The entrance writes it for `:authority`; all other names are in lower case.
    const known = name === 'Host' ? ':authority' : name
    // A client may name a field as a property of `Object.prototype`.
    headers[known] = Object.hasOwn(headers, known) ? `${headers[known]}, ${value}` : value
  }
  return Object.freeze(headers)
}
