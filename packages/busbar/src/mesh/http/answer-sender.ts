import type { Channel } from '../links/link.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from './exchange.ts'
import { Turn } from '../turn.ts'
import { Outflow, pieceSize } from '../links/outflow.ts'
import type { RequestReceiver } from './request-receiver.ts'
import { toLines, toRecord, type Chunk, type HeadValue, type Trailers } from './wire.ts'

/** Of an answer that is whole within the tick that tells of its head all goes out together; of others the head goes then. */
const held = new Turn<AnswerSender>(queueMicrotask, (sender) => sender.sendHead())

/** What a program answers, on its way to a caller in another worker. */
export class AnswerSender implements ExchangeHandler {
  readonly #service: string
  readonly #channel: Channel
  readonly #outflow: Outflow
  #exchange: Exchange | undefined
  /** Undefined where the request came whole. */
  #receiver: RequestReceiver | undefined
  #replied = false
  /** What is held: the head, and the first of the body. */
  #head: HeadValue | undefined
  #body: Chunk | undefined

  constructor(service: string, channel: Channel) {
    this.#service = service
    this.#channel = channel
    this.#outflow = new Outflow(channel, () => this.#exchange?.resume())
  }

  serve(exchange: Exchange, receiver: RequestReceiver | undefined): void {
    this.#exchange = exchange
    this.#receiver = receiver
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    this.#say([status, '', toLines(fieldsOf(headers))])
  }

  onHead({ status, statusText, rawHeaders }: ResponseHead): void {
    this.#head = [status, statusText, toLines(rawHeaders ?? [])]
    held.add(this)
  }

  onData(chunk: Chunk): boolean {
    if (this.#head !== undefined && this.#body === undefined && chunk.length <= pieceSize) {
      this.#body = chunk
      return true
    }
    this.sendHead()
    return this.#outflow.write(chunk)
  }

  onEnd(trailers: Trailers): void {
    const head = this.#head
    if (head === undefined || this.#replied) {
      this.sendHead()
      this.#outflow.end(trailers)
    } else {
      this.#head = undefined
      this.#replied = true
      this.#channel.reply(wholeOf(head, this.#body, trailers), true)
    }
  }

  onError(error: Error): void {
    this.sendHead()
    const record = toRecord(error, this.#service)
    // Behind what the program has written; but a caller who still sends learns at once that there is no more use in it.
    if (this.#receiver?.ended === false) this.#channel.fail(record)
    else this.#outflow.fail(record)
  }

  onDrain(): void {
    this.#receiver?.taken()
  }

  channelDrained(): void {
    this.#outflow.drained()
  }

  sendHead(): void {
    const head = this.#head
    if (head === undefined) return
    this.#head = undefined
    this.#say(head)
    if (this.#body !== undefined) this.#outflow.write(this.#body)
    this.#body = undefined
  }

  #say(head: HeadValue): void {
    if (this.#replied) return this.#outflow.say(head)
    this.#replied = true
    this.#channel.reply(head, false)
  }
}

function fieldsOf(headers: ResponseHead['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]))
}

function wholeOf([status, text, lines]: HeadValue, body: Chunk | undefined, trailers: Trailers): HeadValue {
  if (Object.keys(trailers).length > 0) return [status, text, lines, body ?? '', trailers]
  return body === undefined ? [status, text, lines] : [status, text, lines, body]
}
