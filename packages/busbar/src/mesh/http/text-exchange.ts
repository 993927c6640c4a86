import type { Socket } from 'node:net'
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import {
  closedByProgram,
  type Exchange,
  type ExchangeHandler,
  type ExchangeRequest,
  noFinalStatus,
  isUnderWay,
  resetByProgram,
} from './exchange.ts'
import { foldHeaders, foldTrailers } from './header-fields.ts'
import { encodeHead, sendRawHead } from './raw-head.ts'

/** Saved before programs start: what a program puts in its place is for the program's own calls. */
const { request: openRequest } = http

export interface TextExchangeOptions {
  /** How to connect. */
  readonly target: RequestOptions
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  /** For errors. */
  readonly service: string
}

/**
 * A request and its response as HTTP text on a connection. Used for servers that create request and
 * response objects of their own classes, for programs in other languages, and for whatever an
 * accelerator does not do exactly. The head is forwarded byte for byte.
 */
export class TextExchange implements Exchange {
  readonly #handler: ExchangeHandler
  readonly #service: string
  readonly #request: ExchangeRequest
  #client: ClientRequest | undefined
  #response: IncomingMessage | undefined
  #connection: MarkedConnection | undefined
  #isOver = false

  constructor({ target, request, handler, service }: TextExchangeOptions) {
    this.#handler = handler
    this.#service = service
    this.#request = request
    try {
      this.#open(target, request)
    } catch (error) {
      // Node's client validates at once. The handler gets that error asynchronously, like any
      // other.
      process.nextTick(() => this.#fail(error as Error))
    }
  }

  /** True if an earlier request used the same connection. */
  get isReused(): boolean {
    return this.#client?.reusedSocket === true
  }

  write(chunk: Uint8Array | string): boolean {
    return this.#isOver || this.#client === undefined || this.#client.write(chunk)
  }

  end(trailers: string[] = []): void {
    if (this.#isOver || this.#client === undefined) return
    try {
      if (trailers.length > 0) this.#client.addTrailers(pairsOf(trailers))
    } catch {
      // A sender may always omit trailers (RFC 9110, 6.5).
    }
    this.#client.end()
  }

  resume(): void {
    this.#response?.resume()
  }

  abort(error: Error = this.#hungUp()): void {
    this.#client?.destroy()
    this.#fail(error)
  }

  #open(target: RequestOptions, request: ExchangeRequest): void {
    const { method, path, body, streamed, httpVersion = '1.1', maxResponseHead: maxHeaderSize } = request
    const rawHeaders = framed(request)
    const head = encodeHead({ method, path, rawHeaders, httpVersion })
    const client = openRequest({ ...target, method, setHost: false, headers: framingOf(rawHeaders), maxHeaderSize })
    this.#client = client
    // By default Node silently drops headers after the first 1,000.
    client.maxHeadersCount = 0
    sendRawHead(client, head)
    client.once('socket', (socket) => this.#mark(socket))
    client.on('information', ({ statusCode, rawHeaders: fields }) =>
      this.#handler.onInformation?.(statusCode, foldHeaders(fields)),
    )
    client.on('drain', () => this.#handler.onDrain?.())
    client.on('response', (response) => this.#answer(response))
    client.on('upgrade', (_response, socket) => {
      // From here on, the socket is no longer the request's: Node 26 leaves it open.
      socket.destroy()
      this.abort(noFinalStatus(this.#service, request))
    })
    // A complete response stays valid, whatever the program has sent behind it. Node's client has
    // it still, and ends it when its body has been read.
    client.on('error', (error) => this.#response?.complete === true || this.#fail(error))
    client.on('close', () => this.#response ?? this.#fail(this.#hungUp()))
    if (streamed) client.flushHeaders()
    else client.end(body ?? undefined)
  }

  #answer(response: IncomingMessage): void {
    if (this.#isOver) return
    const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
    this.#response = response
    // Node's client tells an upgrade by the fields `Connection` and `Upgrade`.
    if (status === 101) return this.abort(noFinalStatus(this.#service, this.#request))
    response.on('data', (chunk: Buffer) => {
      if (!this.#isOver && !this.#handler.onData(chunk)) response.pause()
    })
    response.on('end', () => this.#end(foldTrailers(response.rawTrailers)))
    response.on('error', (error) => this.#fail(error))
    response.on('close', () => this.#fail(this.#hungUp()))
    this.#handler.onHead({ status, statusText, headers: foldHeaders(rawHeaders), rawHeaders })
  }

  #end(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#isOver) return
    this.#setOver()
    this.#handler.onEnd(trailers)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#isOver) return
    this.#setOver()
    this.#handler.onError(error.code === 'ECONNRESET' ? this.#lost(error) : error)
  }

  #mark(connection: MarkedConnection): void {
    this.#connection = connection
    connection[isUnderWay] = !this.#isOver
  }

  #setOver(): void {
    this.#isOver = true
    if (this.#connection !== undefined) this.#connection[isUnderWay] = false
  }

  #hungUp(): Error {
    return closedByProgram(this.#service, this.#request)
  }

  /** Node's client has this code for an early end, too. Only a reset comes from a system call. */
  #lost({ syscall }: NodeJS.ErrnoException): Error {
    return syscall === undefined ? this.#hungUp() : resetByProgram(this.#service, this.#request)
  }
}

interface MarkedConnection extends Socket {
  [isUnderWay]?: boolean
}

/** A body without `Content-Length` or `Transfer-Encoding` gets the one it needs. */
function framed({ rawHeaders, body, streamed }: ExchangeRequest): readonly string[] {
  if (Object.keys(framingOf(rawHeaders)).length > 0) return rawHeaders
  if (streamed) return [...rawHeaders, 'transfer-encoding', 'chunked']
  return body === null || body.length === 0
    ? rawHeaders
    : [...rawHeaders, 'content-length', String(Buffer.byteLength(body))]
}

/** The headers that tell Node's client how to frame the body. */
function framingOf(rawHeaders: readonly string[]): Record<string, string> {
  let framing: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (name === 'transfer-encoding') return { 'transfer-encoding': 'chunked' }
    if (name === 'content-length') framing = { 'content-length': rawHeaders[at + 1]! }
  }
  return framing
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]!] as [string, string]] : []))
}
