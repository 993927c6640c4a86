import type { IncomingMessage } from 'node:http'
import type { BusbarError } from '../../contract/errors.ts'
import { encodingFault, refusal } from '../../contract/http/request-content.ts'
import type { HttpHandler } from '../../contract/http/http-handler.ts'
import { BodyAlreadyRead, parsedText, textOf, type ParsedRequest } from './parsed-body.ts'

/** Gets the body or an error, once. Gets neither if the connection closes before. */
export interface BodyConsumer {
  done(text: string): void
  /** `error`: a BusbarError, or a fault of the program. */
  failed(error: Error): void
}

/** What of the HTTP handler limits a body. */
export type BodyLimits = Pick<HttpHandler, 'maxInputSize' | 'tooLarge'>

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads a body as text of limited size, or uses the value of a body parser. Fails with
 * BODY_TOO_LARGE, or with REQUEST_MALFORMED if it is not UTF-8. Does not wait for a body that was
 * already read, wholly or in part, or whose connection has closed.
 */
export function readText(req: ParsedRequest, limits: BodyLimits, consumer: BodyConsumer): void {
  if (req.readableEnded) takeParsed(req, limits, consumer)
  else if (req.destroyed) consumer.failed(left())
  else new BodyReader(req, limits, consumer).begin()
}

class BodyReader {
  readonly #req: ParsedRequest
  readonly #limits: BodyLimits
  readonly #consumer: BodyConsumer
  /** Something has read from the body before, and may have put the data back. */
  readonly #wasRead: boolean
  readonly #chunks: Buffer[] = []
  #size = 0
  #isOver = false

  constructor(req: ParsedRequest, limits: BodyLimits, consumer: BodyConsumer) {
    this.#req = req
    this.#limits = limits
    this.#consumer = consumer
    this.#wasRead = req.readableDidRead
  }

  begin(): void {
    const req = this.#req
    req.on('data', this.#add)
    req.on('end', () => this.#end())
    // `close` follows every request. The error, with its stack, is created only if there was no
    // end.
    req.on('close', () => req.readableEnded || this.#fail(left))
    // A `readable` listener keeps the stream from flowing; so does a call of `pause`.
    if (req.listenerCount('readable') === 0) req.resume()
    else req.on('readable', () => drain(req))
  }

  readonly #add = (chunk: Buffer | string): void => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, this.#req.readableEncoding ?? 'utf8') : chunk
    this.#chunks.push(bytes)
    if ((this.#size += bytes.length) <= this.#limits.maxInputSize) return
    this.#req.off('data', this.#add)
    this.#fail(() => this.#limits.tooLarge())
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const stated = Number(this.#req.headers['content-length'] ?? 0)
    if (this.#size === 0 && (stated > 0 || this.#wasRead)) takeParsed(this.#req, this.#limits, this.#consumer)
    else if (this.#size < stated) this.#consumer.failed(new BodyAlreadyRead())
    else this.#whole()
  }

  #whole(): void {
    const fault = encodingFault(this.#req.headers, 'gateway')
    const chunks = this.#chunks
    if (fault === undefined)
      settle(() => textOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)), this.#consumer)
    else this.#consumer.failed(fault)
  }

  #fail(reason: () => Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#chunks.length = 0
    this.#consumer.failed(reason())
  }
}

/** Emits all buffered data as `data` events. */
function drain(req: IncomingMessage): void {
  while (req.read() !== null);
}

function takeParsed(req: ParsedRequest, limits: BodyLimits, consumer: BodyConsumer): void {
  if (req.body !== undefined) settle(() => withinLimit(parsedText(req), limits), consumer)
  else if (req.readableDidRead) consumer.failed(new BodyAlreadyRead())
  else consumer.done('')
}

function withinLimit(text: string, limits: BodyLimits): string {
  if (Buffer.byteLength(text) > limits.maxInputSize) throw limits.tooLarge()
  return text
}

function settle(make: () => string, consumer: BodyConsumer): void {
  let text: string
  try {
    text = make()
  } catch (thrown) {
    return consumer.failed(thrown as Error)
  }
  consumer.done(text)
}

function left(): BusbarError {
  return refusal('CALL_ABORTED', 'the client disconnected before its input was complete', 'gateway')
}
