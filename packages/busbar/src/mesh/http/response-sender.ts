import { TurnBatch } from '../batch.ts'
import { ChannelWriter, pieceSize } from '../links/channel-writer.ts'
import type { Channel } from '../links/link.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from './exchange.ts'
import { mayPollute } from '../../contract/value/serialisable.ts'
import type { RequestReceiver } from './request-receiver.ts'
import { toLines, toRecord, type Chunk, type HeadValue, type Trailers } from './wire.ts'

/**
 * Heads wait for the end of their tick. A response that is complete by then goes out in one frame.
 */
const heads = new TurnBatch<ResponseSender>(queueMicrotask, (sender) => sender.sendHead())

/** Sends a program's response to a caller in another worker. */
export class ResponseSender implements ExchangeHandler {
  readonly #service: string
  readonly #channel: Channel
  readonly #writer: ChannelWriter
  #exchange: Exchange | undefined
  /** Undefined if the request arrived complete. */
  #receiver: RequestReceiver | undefined
  #replied = false
  /** Held back: the head, and the first chunk of the body. */
  #head: HeadValue | undefined
  #body: Chunk | undefined

  constructor(service: string, channel: Channel) {
    this.#service = service
    this.#channel = channel
    this.#writer = new ChannelWriter(channel, () => this.#exchange?.resume())
  }

  serve(exchange: Exchange, receiver: RequestReceiver | undefined): void {
    this.#exchange = exchange
    this.#receiver = receiver
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    this.#send([status, '', toLines(fieldsOf(headers))])
  }

  onHead({ status, statusText, rawHeaders }: ResponseHead): void {
    this.#head = [status, statusText, toLines(rawHeaders ?? [])]
    heads.add(this)
  }

  onData(chunk: Chunk): boolean {
    if (this.#head !== undefined && this.#body === undefined && chunk.length <= pieceSize) {
      this.#body = chunk
      return true
    }
    this.sendHead()
    return this.#writer.write(chunk)
  }

  onEnd(received: Trailers): void {
    const trailers = carried(received)
    const head = this.#head
    if (head === undefined || this.#replied) {
      this.sendHead()
      this.#writer.end(trailers)
    } else {
      this.#head = undefined
      this.#replied = true
      this.#channel.reply(wholeOf(head, this.#body, trailers), true)
    }
  }

  onError(error: Error): void {
    this.sendHead()
    const record = toRecord(error, this.#service)
    // The error follows what the program has written. A caller that is still sending learns of it
    // at once.
    if (this.#receiver?.ended === false) this.#channel.fail(record)
    else this.#writer.fail(record)
  }

  onDrain(): void {
    this.#receiver?.consumed()
  }

  channelDrained(): void {
    this.#writer.drained()
  }

  sendHead(): void {
    const head = this.#head
    if (head === undefined) return
    this.#head = undefined
    this.#send(head)
    if (this.#body !== undefined) this.#writer.write(this.#body)
    this.#body = undefined
  }

  #send(head: HeadValue): void {
    if (this.#replied) return this.#writer.writeValue(head)
    this.#replied = true
    this.#channel.reply(head, false)
  }
}

function fieldsOf(headers: ResponseHead['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]))
}

/** No link carries these names. A sender may always omit trailers (RFC 9110, 6.5). */
function carried(trailers: Trailers): Trailers {
  const names = Object.keys(trailers)
  if (!names.some(mayPollute)) return trailers
  return Object.fromEntries(names.filter((name) => !mayPollute(name)).map((name) => [name, trailers[name]!]))
}

function wholeOf([status, text, lines]: HeadValue, body: Chunk | undefined, trailers: Trailers): HeadValue {
  if (Object.keys(trailers).length > 0) return [status, text, lines, body ?? '', trailers]
  return body === undefined ? [status, text, lines] : [status, text, lines, body]
}
