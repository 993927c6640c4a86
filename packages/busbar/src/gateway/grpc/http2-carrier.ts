import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { okTrailers } from '../../contract/grpc/status-details.ts'
import {
  answerFields,
  type CarrierEvents,
  type GrpcCarrier,
  type GrpcPeer,
} from '../../shared/entrance/grpc-carrier.ts'

/** Carries a call on a stream of `node:http2`. */
export class Http2Carrier implements GrpcCarrier {
  readonly headers: Readonly<Record<string, string>>
  readonly peer: GrpcPeer
  readonly #stream: ServerHttp2Stream
  #trailers: Readonly<Record<string, string>> = {}

  /** `stream`: what happens to it shows in `close`; its errors have a listener. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: GrpcPeer) {
    this.#stream = stream
    this.peer = peer
    this.headers = flat(headers)
  }

  /** A client may reset the stream at any time. Node throws for what is sent after that. */
  get #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  attach(events: CarrierEvents): void {
    const stream = this.#stream
    stream.on('data', (chunk: Buffer) => events.onData(chunk))
    // A stream that was reset without an error ends too, but the client has not sent everything.
    stream.on('end', () => this.#isGone || events.onEnd())
    stream.on('drain', () => events.onDrain())
    stream.on('close', () => events.onClose())
    stream.on('wantTrailers', () => {
      if (this.#isGone) return
      stream.sendTrailers(this.#trailers)
      this.#stopReceiving()
    })
  }

  respond(fields: Readonly<Record<string, string>>): void {
    if (this.#isGone) return
    this.#stream.respond({ ':status': 200, ...fields }, { waitForTrailers: true })
  }

  write(bytes: Uint8Array): boolean {
    return this.#isGone || this.#stream.write(bytes)
  }

  answer(framed: Uint8Array): void {
    this.respond(answerFields)
    this.write(new Uint8Array(framed))
    this.finish(okTrailers)
  }

  finish(trailers: Readonly<Record<string, string>>): void {
    const stream = this.#stream
    if (this.#isGone || stream.writableEnded) return
    this.#trailers = trailers
    if (stream.headersSent) {
      stream.resume()
      stream.end()
      return
    }
    stream.respond({ ':status': 200, ...answerFields, ...trailers }, { endStream: true })
    this.#stopReceiving()
  }

  refuse(status: number, text: string): void {
    const stream = this.#stream
    if (this.#isGone) return
    const headers: OutgoingHttpHeaders = { ':status': status, 'content-type': 'text/plain; charset=utf-8' }
    stream.respond(headers)
    stream.once('finish', () => this.#stopReceiving())
    stream.end(text)
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  /**
   * A client that still sends is told to stop (RFC 9113, 8.1). In a later turn: before that, Node
   * may not have written the head or the trailers.
   */
  #stopReceiving(): void {
    const stream = this.#stream
    if (stream.readableEnded) return
    stream.resume()
    const stop = (): void => {
      if (!stream.readableEnded && !this.#isGone) stream.close(constants.NGHTTP2_NO_ERROR)
    }
    setImmediate(stop)
  }
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string') fields[name] = value
    else if (Array.isArray(value)) fields[name] = value.join(', ')
  }
  return fields
}
