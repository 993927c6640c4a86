/**
 * The HTTP parser of a server's connection (lib/_http_common.js). It is a property of the socket,
 * and its callbacks are numbered properties. Node 24 and 26 are equal in this.
 */
import { createServer, type IncomingMessage, METHODS } from 'node:http'
import { Socket } from 'node:net'

/** The parser of one connection. */
export interface HttpParser {
  /** Called for every request when its headers are complete. */
  onIncoming: ((request: IncomingMessage, keepAlive: boolean) => number) | null
  execute(bytes: Uint8Array): number | Error
  finish(): Error | undefined
  initialize(type: number, resource: object, maxHeaderSize: number, lenientFlags: number): void
  close(): void
  [callback: number]: ((...values: never[]) => unknown) | null
}

interface HttpParserClass {
  new (): HttpParser
  readonly REQUEST: number
  readonly RESPONSE: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
}

/** The callbacks by which a parser delivers a request to Node's server. */
export interface RequestCallbacks {
  headersComplete(
    this: HttpParser,
    major: number,
    minor: number,
    rawHeaders: string[],
    method: number,
    url: string,
    status: undefined,
    statusText: undefined,
    upgrade: boolean,
    keepAlive: boolean,
  ): unknown
  headers(this: HttpParser, rawHeaders: string[], url: string): void
  body(this: HttpParser, chunk: Uint8Array): void
  messageComplete(this: HttpParser): void
}

/** Undefined if the server does not speak HTTP/1, or does not expose its parser. */
export function parserOf(socket: Socket): HttpParser | undefined {
  const { parser } = socket as { parser?: HttpParser | null }
  return typeof parser?.onIncoming === 'function' ? parser : undefined
}

/** `look` gets each request of the connection before the server does, with its headers. */
export function lookAtRequests(parser: HttpParser, look: (request: IncomingMessage) => void): void {
  const { onIncoming } = parser
  parser.onIncoming = (request, keepAlive) => {
    look(request)
    return onIncoming!(request, keepAlive)
  }
}

/** All parsers of one process share these functions. */
export function callbacksOf(parser: HttpParser): RequestCallbacks {
  const { kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete } = classOf(parser)
  return {
    headers: parser[kOnHeaders] as RequestCallbacks['headers'],
    headersComplete: parser[kOnHeadersComplete] as RequestCallbacks['headersComplete'],
    body: parser[kOnBody] as RequestCallbacks['body'],
    messageComplete: parser[kOnMessageComplete] as RequestCallbacks['messageComplete'],
  }
}

/**
 * Feeds `text` to a parser without calling the server. Node's list of connections (idle, active,
 * timed out) reads the parser's state, which does not change for a request that was never text.
 */
export function parseSilently(parser: HttpParser, text: Uint8Array): void {
  const { kOnHeaders, kOnHeadersComplete, kOnMessageComplete, kOnBody } = classOf(parser)
  const names = [kOnHeaders, kOnHeadersComplete, kOnMessageComplete, kOnBody]
  const callbacks = names.map((name) => parser[name]!)
  for (const name of names) parser[name] = null
  // No callback takes the headers of `text`, so the parser delivers them as trailers at the end.
  // Node's own callback would keep them for the next request on the connection.
  parser[kOnHeaders] = () => {}
  try {
    parser.execute(text)
  } finally {
    for (const [index, name] of names.entries()) parser[name] = callbacks[index]!
  }
}

/** Receives the parts of a response as the parser finds them. */
export interface ResponseEvents {
  headers(rawHeaders: string[]): void
  /** `rawHeaders` is undefined if they came by `headers`. Returns true if no body follows. */
  head(status: number, statusText: string, rawHeaders: string[] | undefined): boolean
  body(chunk: Uint8Array): void
  complete(): void
}

/** Creates a parser like that of Node's client. `maxHeaderSize`: in bytes; 0 for Node's limit. */
export function createResponseParser(maxHeaderSize: number, events: ResponseEvents): HttpParser {
  const Parser = parserClass()
  const parser = new Parser()
  parser.initialize(Parser.RESPONSE, { type: 'BusbarResponse' }, maxHeaderSize, 0)
  parser[Parser.kOnHeaders] = (rawHeaders: string[]) => events.headers(rawHeaders)
  parser[Parser.kOnHeadersComplete] = (...found: unknown[]) =>
    events.head(found[5] as number, found[6] as string, found[2] as string[] | undefined) ? 1 : 0
  parser[Parser.kOnBody] = (chunk: Uint8Array) => events.body(chunk)
  parser[Parser.kOnMessageComplete] = () => events.complete()
  return parser
}

let numbers: ReadonlyMap<string, number> | undefined

/** The parser's number for each method, found by parsing a request of each. */
export function methodNumbers(): ReadonlyMap<string, number> {
  numbers ??= findMethodNumbers()
  return numbers
}

function findMethodNumbers(): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const Parser = parserClass()
  const parser = new Parser()
  for (const method of METHODS) {
    parser.initialize(Parser.REQUEST, { type: 'BusbarProbe' }, 0, 0)
    parser[Parser.kOnHeadersComplete] = (...values: unknown[]) => {
      found.set(method, values[3] as number)
      return 0
    }
    parser.execute(Buffer.from(`${method} / HTTP/1.1\r\n\r\n`))
  }
  parser.close()
  return found
}

let known: HttpParserClass | undefined

/** Taken from a server's connection. Throws if the connection does not expose its parser. */
function parserClass(): HttpParserClass {
  if (known !== undefined) return known
  const socket = new Socket()
  createServer().emit('connection', socket)
  const parser = parserOf(socket)
  if (parser === undefined) throw new Error(hidden)
  known = classOf(parser)
  socket.destroy()
  return known
}

function classOf(parser: HttpParser): HttpParserClass {
  return parser.constructor as HttpParserClass
}

const hidden = 'a connection does not expose its parser'

/**
 * Undefined if a connection exposes its parser, whose callbacks accept a request without text, with
 * the method as a number.
 */
export function parserFault(): unknown {
  try {
    const seen: unknown[] = []
    const socket = new Socket()
    const server = createServer()
    server.emit('connection', socket)
    const parser = parserOf(socket)
    if (parser === undefined) return hidden
    parser.onIncoming = ({ method, url, headers }) => seen.push(method, url, headers.host)
    const [callbacks, post] = [callbacksOf(parser), methodNumbers().get('POST')!]
    callbacks.headersComplete.call(parser, 1, 1, ['Host', 'a'], post, '/b', undefined, undefined, false, true)
    callbacks.messageComplete.call(parser)
    parseSilently(parser, Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    socket.destroy()
    return String(seen) === 'POST,/b,a' ? undefined : `the parser's callbacks delivered ${String(seen) || 'nothing'}`
  } catch (error) {
    return error
  }
}
