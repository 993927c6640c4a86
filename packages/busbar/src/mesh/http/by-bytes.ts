import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connectHere } from '../bytes/connect.ts'
import type { LocalEndpoint } from '../endpoint.ts'
import type { HttpMesh } from '../mesh.ts'
import type { Scope } from '../scope.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from './exchange.ts'
import { closedByProgram } from './exchange/errors.ts'
import { foldHeaders, foldTrailers } from './exchange/header-fields.ts'

/**
 * An exchange as HTTP text over a byte stream to an instance in this thread: for a request that came over a link, and of
 * which it only shows here that this server does something of its own with it (a smaller limit, a parser of its own).
 */
export function openByBytes(
  mesh: HttpMesh,
  endpoint: LocalEndpoint,
  request: ExchangeRequest,
  { hops }: Scope,
  handler: ExchangeHandler,
): Exchange {
  const { method, path, rawHeaders, body, streamed } = request
  const client = openRequest({
    createConnection: () => connectHere(mesh, endpoint, hops),
    setHost: false,
    method,
    path,
    headers: rawHeaders,
  })
  const call = new ByteCall(client, handler, () => closedByProgram(endpoint.service, request))
  if (!streamed) client.end(body ?? undefined)
  else client.flushHeaders()
  return call
}

class ByteCall implements Exchange {
  readonly #client: ClientRequest
  readonly #handler: ExchangeHandler
  readonly #hungUp: () => Error
  #response: IncomingMessage | undefined
  #isOver = false

  constructor(client: ClientRequest, handler: ExchangeHandler, hungUp: () => Error) {
    this.#client = client
    this.#handler = handler
    this.#hungUp = hungUp
    client.on('information', ({ statusCode, rawHeaders }) =>
      handler.onInformation?.(statusCode, foldHeaders(rawHeaders)),
    )
    client.on('drain', () => handler.onDrain?.())
    client.on('error', (error) => this.#fail(error))
    client.on('response', (response) => this.#answer(response))
  }

  write(chunk: Uint8Array | string): boolean {
    return this.#client.write(chunk)
  }

  end(trailers: string[] = []): void {
    const pairs = trailers.flatMap((name, at) => (at % 2 === 0 ? [[name, trailers[at + 1]!] as [string, string]] : []))
    if (pairs.length > 0) this.#client.addTrailers(pairs)
    this.#client.end()
  }

  resume(): void {
    this.#response?.resume()
  }

  abort(error: Error = this.#hungUp()): void {
    this.#client.destroy()
    this.#fail(error)
  }

  #answer(response: IncomingMessage): void {
    const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
    this.#response = response
    this.#handler.onHead({ status, statusText, headers: foldHeaders(rawHeaders), rawHeaders })
    response.on('data', (chunk: Buffer) => {
      if (!this.#isOver && !this.#handler.onData(chunk)) response.pause()
    })
    response.on('end', () => this.#end(foldTrailers(response.rawTrailers)))
    response.on('error', (error) => this.#fail(error))
  }

  #end(trailers: Readonly<Record<string, string>>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onEnd(trailers)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onError(error.code === 'ECONNRESET' ? this.#hungUp() : error)
  }
}
