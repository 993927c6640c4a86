import { Socket } from 'node:net'
import { sendAsValues, type ValueConnection } from '../../../mesh/http/value-connection.ts'
import { ParserResponse, type Parser } from './parser-response.ts'

/** undici's module for a connection of HTTP/1.1, just after it was loaded (`client-h1.js`). */
export interface ConnectionModule {
  readonly module: { exports: (client: Client, socket: Socket) => Connection | Promise<Connection> }
  readonly Parser: abstract new () => Parser
  /** Keys of undici's own: the parser of a socket, and the number of requests sent by a client. */
  readonly kParser: symbol
  readonly kRunning: symbol
}

type Client = Readonly<Record<symbol, unknown>>

/** What a client of undici knows of its connection. */
interface Connection {
  /** False if the request was not sent. Calls `write` of the socket within the call, or later. */
  write: (request: object) => boolean
}

/**
 * Requests of a program's own agents, pools and clients over connections that the mesh has opened.
 * undici makes the text of a request and writes it to its socket. A text that is complete within
 * that call is sent as values instead, and the values of the response go to undici's parser in
 * place of bytes. All else remains undici's: limits, queues, timeouts, events and errors.
 */
export function sendRequestsAsValues(copy: ConnectionModule): void {
  const connect = copy.module.exports
  const open = (client: Client, socket: Socket): Connection | Promise<Connection> => {
    const connection = connect(client, socket)
    if (!(sendAsValues in socket)) return connection
    // Version 6 resolves to it.
    return connection instanceof Promise
      ? connection.then((opened) => withValues(copy, client, socket, opened))
      : withValues(copy, client, socket, connection)
  }
  copy.module.exports = open
}

function withValues(copy: ConnectionModule, client: Client, socket: Socket, connection: Connection): Connection {
  const parser = Reflect.get(socket, copy.kParser) as unknown
  // Version 8 has another parser, which is an option.
  if (!(parser instanceof copy.Parser)) return connection
  const writer = new ValueWriter(socket, parser)
  const { write } = connection
  connection.write = (request) =>
    // A pipelined response has to be parsed after the bytes before it.
    client[copy.kRunning] === 0 ? writer.write(() => write(request)) : write(request)
  return connection
}

/** As it was when the worker started. */
const nodeWrite = writeOf(Socket.prototype)

type Written = [chunk: string | Uint8Array, ...rest: unknown[]]

class ValueWriter {
  readonly #socket: Socket & ValueConnection
  readonly #response: ParserResponse
  /** What is written during the call of undici's `write`. */
  #collected: Written[] | undefined

  constructor(socket: Socket, parser: Parser) {
    this.#socket = socket
    this.#response = new ParserResponse(parser, socket)
    socket.write = (...args: Written) => {
      if (this.#collected === undefined) return this.#pass(args)
      this.#collected.push(args)
      return true
    }
  }

  write(send: () => boolean): boolean {
    // What a program has put in place of the method has to see the text.
    if (inherited(this.#socket) !== nodeWrite) return send()
    const collected: Written[] = (this.#collected = [])
    try {
      return send()
    } finally {
      this.#collected = undefined
      if (collected.length > 0 && !this.#socket.destroyed && !this.#sendAsValues(collected)) this.#passAll(collected)
    }
  }

  #sendAsValues(collected: Written[]): boolean {
    const head = collected[0]![0]
    const body = collected[1]?.[0] ?? null
    if (typeof head !== 'string' || typeof body === 'string' || collected.length > 2) return false
    const responding = this.#socket[sendAsValues]?.(head, body, this.#response)
    this.#response.responding = responding
    return responding !== undefined
  }

  #passAll(collected: Written[]): void {
    this.#socket.cork()
    for (const args of collected) this.#pass(args)
    this.#socket.uncork()
  }

  #pass(args: Written): boolean {
    return Reflect.apply(inherited(this.#socket), this.#socket, args)
  }
}

function inherited(socket: Socket): (...args: Written) => boolean {
  return writeOf(Object.getPrototypeOf(socket) as Socket)
}

function writeOf(prototype: Socket): (...args: Written) => boolean {
  return Reflect.get(prototype, 'write') as (...args: Written) => boolean
}
