import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { makeLast } from '../mesh/http/last-response.ts'
import { afterShortTurn, type IdleTimes } from '../shared/time/short-turn.ts'
import { noResponse } from './problems/gateway-problems.ts'
import { discardBody, endLinger, lingerTime } from './problems/linger.ts'
import type { OwnResponses } from './problems/own-responses.ts'
import type { Problem } from './problems/problem.ts'
import type { ClientConnection, RequestContext } from './request-context.ts'

/**
 * Milliseconds without a write after which a connection counts as stalled. A service on a busy
 * machine may take a second for the first byte.
 */
const stallTime = 5000

/**
 * - `open`: accepts requests
 * - `closing`: accepts no more requests, because a response has said `connection: close` or an
 *   error ends the connection
 * - `upgraded`: the bytes belong to a service
 */
export type ConnectionState = 'open' | 'closing' | 'upgraded'

/** One HTTP connection of a client, plain or over TLS. */
export class Connection implements ClientConnection {
  readonly socket: Socket
  readonly #responses: OwnResponses
  state: ConnectionState = 'open'
  /** `bytesWritten` of the socket when the latest response ended. */
  bytesOfResponses = 0
  /** Of the native entrance, which sends a request only after the response before it. */
  isVirtual = false
  /** Set by {@link leave}. */
  leaves = false
  /** The requests in flight, in the order of arrival, which is the order of their responses. */
  readonly #requests: RequestContext[] = []
  /** The latest request. Its body may still be arriving when its response has been sent. */
  #lastRequest: IncomingMessage | undefined
  /** A fault in the body of the latest request. Earlier responses go first. */
  #badInput: Problem | undefined
  #isDestroyed = false
  /** Something was written for the request whose response is next, other than 1xx responses. */
  #hasBegun = false
  #isLingering = false
  /** Set by {@link drain}. */
  #idleTimes: IdleTimes | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(socket: Socket, responses: OwnResponses) {
    this.socket = socket
    this.#responses = responses
    this.#noticeWrites()
    this.#respondBeforeDestroy()
    this.#watchEnd()
  }

  get inFlight(): number {
    return this.#requests.length
  }

  /** A copy: the caller may end some of the requests. */
  get requests(): readonly RequestContext[] {
    return [...this.#requests]
  }

  addRequest(context: RequestContext): void {
    this.#requests.push(context)
    this.#lastRequest = context.req
  }

  removeRequest(context: RequestContext): void {
    if (this.#requests.at(-1) === context) this.#requests.pop()
    else this.#requests.splice(this.#requests.indexOf(context), 1)
    this.bytesOfResponses = this.socket.bytesWritten
    this.#hasBegun = false
    if (this.inFlight === 1 && this.#badInput !== undefined) this.failNext(this.#badInput)
    if (this.inFlight > 0) return
    if (this.state === 'closing') this.socket.destroySoon()
    else if (this.#idleTimes !== undefined) this.#closeWhenIdle(this.#idleTimes)
  }

  /**
   * Ends the connection with the next response that can say `connection: close`, or when it has
   * been idle for some time. Closing at once would lose a request that is on its way, or that has
   * not been read yet.
   */
  drain(times: IdleTimes): void {
    this.#idleTimes = times
    this.socket.once('close', () => clearTimeout(this.#timer))
    if (this.inFlight === 0) this.#closeWhenIdle(times)
    else if (this.#requests.at(-1)?.res.headersSent === false) this.finish()
  }

  /** Ends the connection with the next response that can say `connection: close`. */
  leave(): void {
    this.leaves = true
    if (this.#requests.at(-1)?.res.headersSent === false) this.finish()
  }

  /**
   * Accepts no more requests and closes after the responses in flight, the last of which says
   * `connection: close` if its head is not sent yet.
   */
  finish(): void {
    const last = this.#requests.at(-1)?.res
    if (last?.headersSent === false) makeLast(last)
    this.state = 'closing'
    if (this.inFlight === 0) this.socket.destroySoon()
  }

  /**
   * Like {@link finish}, and discards what arrives: Node's parser would keep every request that is
   * ignored until the connection ends. The client's disconnect is still noticed.
   */
  finishUnread(): void {
    this.finish()
    this.socket.removeAllListeners('data').on('data', () => {})
  }

  /**
   * Ends the connection. Sends `problem` as the response to `context` if that response is the next
   * one and has not begun. Otherwise destroys the connection: a truncated body must not look
   * complete.
   */
  failRequest(problem: Problem, context: RequestContext | undefined, method?: string): void {
    if (!this.#canRespond(context)) return this.destroy()
    this.state = 'closing'
    this.socket.end(this.#textFor(problem, context, method))
    if (context?.req.complete === true) this.socket.destroySoon()
    else this.#linger(context?.req)
  }

  /** Like {@link failRequest}, for the request whose response is next. */
  failNext(problem: Problem): void {
    this.failRequest(problem, this.#next)
  }

  /**
   * Handles malformed or stalled input. It belongs to the latest request if its body is still
   * arriving, else to the request after it. Requests in flight before it are answered first. A
   * request that already has its response gets no second one. `method`: of a request whose head is
   * malformed, if it is known.
   */
  rejectInput(problem: Problem, method?: string): void {
    const next = this.#next
    const last = this.#requests.at(-1)
    if (this.#isLingering) return
    if (last?.req.complete === false) endLinger(last.res)
    const isOver = next === undefined || last?.res.writableEnded === true
    const isAnswered = isOver && this.#lastRequest?.complete === false
    if (!isAnswered && next?.req.complete !== true) return this.failRequest(problem, next, method)
    this.finish()
    if (!isAnswered && last?.req.complete === false) this.#badInput = problem
    if (this.socket.readableEnded && this.inFlight > 0) whenStalled(this.socket, () => this.destroy())
  }

  /**
   * Like {@link rejectInput}, for CONNECT. Node detaches its listeners from the socket then, so
   * responses in flight would not learn of `drain`.
   */
  rejectTunnel(problem: Problem): void {
    this.socket.on('drain', () => this.#next?.res.emit('drain'))
    this.socket.on('error', () => this.destroy())
    this.socket.resume()
    this.rejectInput(problem)
  }

  /** Destroys the socket without a response, whatever is in flight. */
  destroy(): void {
    this.#isDestroyed = true
    this.socket.destroy()
  }

  /** If the event loop is late, a request may have arrived that nobody has read. */
  #closeWhenIdle(times: IdleTimes): void {
    const { bytesRead } = this.socket
    const check = (): void => {
      if (this.state !== 'open' || this.inFlight > 0) return
      if (this.socket.bytesRead === bytesRead) this.finish()
      else this.#closeWhenIdle(times)
    }
    this.#timer = setTimeout(() => afterShortTurn(check, times.turn), times.idle)
  }

  /**
   * Reads on for a moment. Closing with unread bytes resets the connection, and the client may lose
   * the response (RFC 9112, 9.6).
   */
  #linger(req: IncomingMessage | undefined): void {
    this.#isLingering = true
    if (req !== undefined) discardBody(req, () => this.destroy())
    const timer = setTimeout(() => this.destroy(), lingerTime)
    this.socket.once('close', () => clearTimeout(timer))
  }

  /**
   * A client that half-closes after its request still reads (RFC 9293, 3.6). Node's server would
   * call `end` at once, so a response that comes later, such as one from another worker, would be
   * lost. That call is deferred until the responses in flight are sent, for as long as they make
   * progress: a client that is gone looks the same. Any other call is the program's, or comes
   * behind a response.
   */
  #watchEnd(): void {
    const { socket } = this
    const end = socket.end.bind(socket)
    let isEnding = false
    socket.prependListener('end', () => (isEnding = true))
    socket.on('end', () => (isEnding = false))
    const deferred = (...args: Parameters<typeof end>): Socket => {
      if (this.state === 'upgraded') return end(...args)
      if (!isEnding && typeof args[0] !== 'string' && !ArrayBuffer.isView(args[0])) this.#respondForProgram()
      if (!isEnding || args.length > 0 || this.inFlight === 0) return end(...args)
      this.state = 'closing'
      whenStalled(socket, end)
      return socket
    }
    socket.end = deferred as typeof end
  }

  /**
   * A program that destroys its request, response or socket before it responds would close the
   * connection without a reason. All three end in the socket's `destroy`, so this is the one place
   * for them; it costs a property per connection and nothing per request. A `syscall` in the error
   * means that the client is gone.
   */
  #respondBeforeDestroy(): void {
    const { socket } = this
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (error?: NodeJS.ErrnoException) => {
      if (!this.#isDestroyed && error?.syscall === undefined) this.#respondForProgram()
      return destroy(error)
    }
  }

  /**
   * The program closes the connection: sends 502 if it has not responded. With several requests in
   * flight, a later one may be the cause. Then the client gets no response: it would belong to
   * another request.
   */
  #respondForProgram(): void {
    const next = this.#next
    const isOfNext = this.inFlight === 1 || next?.req.destroyed === true || next?.res.destroyed === true
    if (next?.service !== undefined && isOfNext && this.#canRespond(next))
      this.socket.write(this.#textFor(noResponse(next.service, 'SERVICE_HANGUP'), next))
  }

  /**
   * A program may write a response to its socket itself. One of the gateway must not come behind
   * that. It may also write more than its response's length.
   */
  #noticeWrites(): void {
    const { socket } = this
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
    socket.write = (...args: unknown[]) => {
      this.#hasBegun ||= !isInformational(args[0])
      const next = this.#next
      const cut = next?.cut?.(next, args)
      if (cut !== undefined) this.finish()
      return write(...(cut ?? args))
    }
  }

  /** The request whose response is next: Node assigns the socket to this response only. */
  get #next(): RequestContext | undefined {
    return this.#requests.find(({ res }) => res.socket === this.socket)
  }

  /** True if text can be sent as the response to `context`, or while nothing is in flight. */
  #canRespond(context: RequestContext | undefined): boolean {
    const hasBegun = this.#hasBegun || context?.res.headersSent === true
    return this.socket.writable && this.#next === context && !hasBegun
  }

  #textFor(problem: Problem, context: RequestContext | undefined, method?: string): string {
    if (context === undefined) return this.#responses.text(problem, { method })
    const { path, req } = context
    return this.#responses.text(problem, { path, method: req.method, origin: req.headers.origin })
  }
}

/** Calls `onStalled` each time that nothing has been written for {@link stallTime}. */
export function whenStalled(socket: Socket, onStalled: () => void): void {
  let { bytesWritten } = socket
  const timer = setInterval(() => {
    if (socket.bytesWritten === bytesWritten) onStalled()
    else ({ bytesWritten } = socket)
  }, stallTime)
  socket.once('close', () => clearInterval(timer))
}

/** One head of 1xx: Node writes it as a text. Another protocol follows 101. */
function isInformational(chunk: unknown): boolean {
  if (typeof chunk !== 'string' || !/^HTTP\/1\.1 1(?!01)\d\d/.test(chunk)) return false
  return chunk.indexOf('\r\n\r\n') === chunk.length - 4
}
