import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { BusbarError } from '../../contract/errors.ts'
import { failure, jsonHeaders, type EdgeAnswer, type EdgeCall, type EdgeReply } from '../../contract/http/answering.ts'
import type { Directed, HttpEdge } from '../../contract/http/edge.ts'
import { utcDate } from '../../mesh/http/utc-date.ts'
import type { Lone } from '../arrivals.ts'
import type { HttpSocket, Reply } from '../reply.ts'
import { write } from './listener.ts'
import { hasBody, leaveBody, readText } from './request-body.ts'

export interface PlainCallParts {
  readonly edge: HttpEdge
  readonly directed: Directed
  /** The line that tells how long the connection is kept, with its end; '' for none. */
  readonly keepAlive: string
  /** The answer has been written. */
  answered(): void
  /** It is more than a line of JSON, or no longer alone: {@link PlainCall.adopt} is to be called before this returns. */
  needsResponse(): void
}

/**
 * A typed call that stands where Node's response would until its answer is known, which nearly always is a line of JSON: then
 * it writes that with the head that Node would have written, and there never is a response.
 */
export class PlainCall implements Lone, Reply, EdgeReply {
  readonly req: IncomingMessage
  headersSent = false
  statusCode = 200
  writableFinished = false
  shouldKeepAlive = true
  readonly #socket: HttpSocket
  readonly #parts: PlainCallParts
  #call: EdgeCall | undefined
  #response: ServerResponse | undefined
  #isOver = false

  constructor(req: IncomingMessage, parts: PlainCallParts) {
    this.req = req
    this.#socket = req.socket
    this.#parts = parts
  }

  begin(): void {
    this.#socket._httpMessage = this
    if (hasBody(this.req))
      return readText(this.req, this.#parts.edge, {
        done: (text) => this.#start(text),
        failed: (error) => this.#refuse(error),
      })
    leaveBody(this.req)
    this.#start(undefined)
  }

  /** Its answer leaves by Node's response. */
  adopt(response: ServerResponse): void {
    this.#response = response
    // Behind a whole answer there is nothing left to abandon.
    response.on('close', () => this.abandon())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  useResponse(): void {
    if (this.#isOver || this.#response !== undefined || this.#socket._httpMessage !== this) return
    this.#socket._httpMessage = null
    this.#parts.needsResponse()
  }

  /** The connection is gone, or has been ended with something else. */
  abandon(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call?.abandon()
  }

  answer(answer: EdgeAnswer): void {
    if (this.#isOver || !this.#socket.writable) return
    const { status, headers, body } = answer
    const line = this.shouldKeepAlive && headers === jsonHeaders ? body : undefined
    if (line === undefined) this.useResponse()
    this.#isOver = true
    if (this.#response !== undefined) write(answer, this.#response)
    else if (line !== undefined && this.#socket._httpMessage === this) this.#write(status, line)
  }

  stream(): never {
    throw new TypeError('a stream is no plain call')
  }

  /** Node asks it whether a connection on which nothing moves may be closed: not while it is being answered. */
  emit(): true {
    return true
  }

  #start(body: string | undefined): void {
    if (this.#isOver) return
    try {
      const call = this.#parts.edge.begin(this.#parts.directed, body, this)
      if (call instanceof Promise) call.then((known) => this.#began(known)).catch((thrown) => this.#refuse(thrown))
      else this.#began(call)
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  #began(call: EdgeCall): void {
    if (this.#isOver) call.abandon()
    else this.#call = call
  }

  #refuse(thrown: unknown): void {
    this.answer(failure(BusbarError.from(thrown)))
  }

  /** The same bytes as `writeHead(status, { … }).end(body)`, in one write; where they are ASCII, V8 need not encode them. */
  #write(status: number, body: string): void {
    const length = Buffer.byteLength(body)
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nDate: ${utcDate()}\r\nConnection: keep-alive\r\n${this.#parts.keepAlive}\r\n`
    this.headersSent = true
    this.statusCode = status
    this.#socket._httpMessage = null
    this.#socket.write(head + body, length === body.length ? 'latin1' : 'utf8')
    this.writableFinished = true
    this.#parts.answered()
  }
}
