import type { IncomingMessage } from 'node:http'
import type { BusbarError } from '../../contract/errors.ts'
import { encodingFault, refusal } from '../../contract/http/content.ts'
import type { HttpEdge } from '../../contract/http/edge.ts'
import { BodyTaken, parsedText, textOf, type ParsedRequest } from './parsed-body.ts'

/** What becomes of a body: one of both, once; or none, where its connection is gone before its end. */
export interface TextReader {
  done(text: string): void
  /** A BusbarError, or a fault of the program. */
  failed(error: Error): void
}

/** Of the edge: what limits a body. */
export type BodyLimits = Pick<HttpEdge, 'maxInputSize' | 'tooLarge'>

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads a body as text of a limited size, or takes what a body parser has made of it. Fails with BODY_TOO_LARGE, or with
 * REQUEST_MALFORMED where it is no UTF-8. Never waits for what cannot come: a body that was read, in whole or in part, or
 * whose connection is gone.
 */
export function readText(req: ParsedRequest, limits: BodyLimits, reader: TextReader): void {
  if (req.readableEnded) takeParsed(req, limits, reader)
  else if (req.destroyed) reader.failed(left())
  else new BodyReader(req, limits, reader).begin()
}

class BodyReader {
  readonly #req: ParsedRequest
  readonly #limits: BodyLimits
  readonly #reader: TextReader
  /** Whether somebody has read of it before; he may have put it back. */
  readonly #wasRead: boolean
  readonly #chunks: Buffer[] = []
  #size = 0
  #isOver = false

  constructor(req: ParsedRequest, limits: BodyLimits, reader: TextReader) {
    this.#req = req
    this.#limits = limits
    this.#reader = reader
    this.#wasRead = req.readableDidRead
  }

  begin(): void {
    const req = this.#req
    req.on('data', this.#add)
    req.on('end', () => this.#end())
    // It follows every request: an error, with its stack, is only made where there was no end.
    req.on('close', () => req.readableEnded || this.#fail(left))
    // Who listens for `readable` keeps a stream from flowing; so does who has paused it.
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
    if (this.#size === 0 && (stated > 0 || this.#wasRead)) takeParsed(this.#req, this.#limits, this.#reader)
    else if (this.#size < stated) this.#reader.failed(new BodyTaken())
    else this.#whole()
  }

  #whole(): void {
    const fault = encodingFault(this.#req.headers, 'gateway')
    const chunks = this.#chunks
    if (fault === undefined)
      settle(() => textOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)), this.#reader)
    else this.#reader.failed(fault)
  }

  #fail(reason: () => Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#chunks.length = 0
    this.#reader.failed(reason())
  }
}

/** Everything at hand leaves by `data`. */
function drain(req: IncomingMessage): void {
  while (req.read() !== null);
}

function takeParsed(req: ParsedRequest, limits: BodyLimits, reader: TextReader): void {
  if (req.body !== undefined) settle(() => withinLimit(parsedText(req), limits), reader)
  else if (req.readableDidRead) reader.failed(new BodyTaken())
  else reader.done('')
}

function withinLimit(text: string, limits: BodyLimits): string {
  if (Buffer.byteLength(text) > limits.maxInputSize) throw limits.tooLarge()
  return text
}

function settle(make: () => string, reader: TextReader): void {
  let text: string
  try {
    text = make()
  } catch (thrown) {
    return reader.failed(thrown as Error)
  }
  reader.done(text)
}

function left(): BusbarError {
  return refusal('CALL_ABORTED', 'the client ended before its input', 'gateway')
}
