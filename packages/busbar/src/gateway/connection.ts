import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { hangUp } from './lost.ts'
import { problemText, type Problem } from './problem.ts'
import type { RequestContext } from './request-context.ts'

/**
 * How long, and for how many bytes, a client that is being refused may go on sending before the
 * line is cut.
 */
export const lingerTime = 1000
export const lingerBytes = 4 * 1024 * 1024

/**
 * - `open`: requests are taken
 * - `closing`: one response has said `connection: close`, or an error ends the connection: no more
 * requests are taken
 * - `upgraded`: the bytes belong to a service
 */
export type ConnectionState = 'open' | 'closing' | 'upgraded'

/** One HTTP connection of a client, plain or over TLS. */
export class Connection {
  readonly socket: Socket
  state: ConnectionState = 'open'
  /** In flight, in the order in which they came, which is that of their answers. */
  readonly #requests: RequestContext[] = []
  /** Of the request that came last: its body may still be on its way when it is answered. */
  #lastRequest: IncomingMessage | undefined
  /** What is wrong with the body of that one, which waits for the answers before it. */
  #badInput: Problem | undefined
  #broken = false
  #lingering = false
  /** Since {@link leave}: how long nothing must come before it is closed, in milliseconds. */
  #quiet: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.#answerHangUps()
    this.#answerHalfClosed()
  }

  get inFlight(): number {
    return this.#requests.length
  }

  /** A list of its own: its reader may end some of them. */
  get requests(): readonly RequestContext[] {
    return [...this.#requests]
  }

  began(context: RequestContext): void {
    this.#requests.push(context)
    this.#lastRequest = context.req
  }

  ended(context: RequestContext): void {
    if (this.#requests.at(-1) === context) this.#requests.pop()
    else this.#requests.splice(this.#requests.indexOf(context), 1)
    if (this.inFlight === 1 && this.#badInput !== undefined) this.breakOffHead(this.#badInput)
    if (this.inFlight > 0) return
    if (this.state === 'closing') this.socket.destroySoon()
    else if (this.#quiet !== undefined) this.#closeWhenQuiet(this.#quiet)
  }

  /**
   * The gateway is to stop: the connection ends with the next answer that can say so, or when
   * nothing has come for `quiet` milliseconds. Closed at once, it would lose the request that is on
   * its way, or that nobody has read yet.
   */
  leave(quiet: number): void {
    this.#quiet = quiet
    this.socket.once('close', () => clearTimeout(this.#timer))
    if (this.inFlight === 0) this.#closeWhenQuiet(quiet)
    else if (this.#requests.at(-1)?.res.headersSent === false) this.finish()
  }

  /**
   * Takes no more requests, answers those in flight, the last one with `connection: close` if it
   * still can, and closes.
   */
  finish(): void {
    const last = this.#requests.at(-1)?.res
    if (last?.headersSent === false) last.shouldKeepAlive = false
    this.state = 'closing'
    if (this.inFlight === 0) this.socket.destroySoon()
  }

  /**
   * Ends the connection with a problem in place of the answer to `context` where that is next to be
   * sent and has not begun, else by cutting it: half a body must not look whole.
   */
  breakOff(problem: Problem, context: RequestContext | undefined): void {
    if (!this.#canAnswer(context)) return this.cut()
    this.state = 'closing'
    this.socket.end(textFor(problem, context))
    if (context?.req.complete === true) this.socket.destroySoon()
    else this.#linger(context?.req)
  }

  /** The same for whatever answer is next to be sent. */
  breakOffHead(problem: Problem): void {
    this.breakOff(problem, this.#head)
  }

  /**
   * Malformed or stalled input. It concerns the request whose body is arriving, which is the last;
   * where that is whole, it belongs to a next one. What is in flight before it is answered first.
   * One that has had its answer gets no second one.
   */
  breakOffBadInput(problem: Problem): void {
    const head = this.#head
    if (this.#lingering) return
    const isAnswered = head === undefined && this.#lastRequest?.complete === false
    if (!isAnswered && head?.req.complete !== true) return this.breakOff(problem, head)
    this.finish()
    if (this.#requests.at(-1)?.req.complete === false) this.#badInput = problem
    if (this.socket.readableEnded && this.inFlight > 0) whenStalled(this.socket, () => this.cut())
  }

  /**
   * The same for a request to make a tunnel, after which Node takes its hands off the socket:
   * answers that are under way would no longer hear that they may go on.
   */
  breakOffTunnel(problem: Problem): void {
    this.socket.on('drain', () => this.#head?.res.emit('drain'))
    this.socket.on('error', () => this.cut())
    this.socket.resume()
    this.breakOffBadInput(problem)
  }

  /** Cuts without a word, whatever is in flight. */
  cut(): void {
    this.#broken = true
    this.socket.destroy()
  }

  /** Looked at after the loop has read what waits: where it was late, that may be a request. */
  #closeWhenQuiet(quiet: number): void {
    const { bytesRead } = this.socket
    const look = (): void => {
      if (this.state !== 'open' || this.inFlight > 0) return
      if (this.socket.bytesRead === bytesRead) this.finish()
      else this.#closeWhenQuiet(quiet)
    }
    this.#timer = setTimeout(() => setImmediate(look), quiet)
  }

  /**
   * Reads on for a moment: closing on unread bytes resets the connection and may take the answer
   * with it (RFC 9112, 9.6).
   */
  #linger(req: IncomingMessage | undefined): void {
    this.#lingering = true
    if (req !== undefined) swallow(req, () => this.cut())
    const timer = setTimeout(() => this.cut(), lingerTime)
    this.socket.once('close', () => clearTimeout(timer))
  }

  /**
   * A client that closes its half behind its request still reads (RFC 9293, 3.6). Node's server
   * would close the other half at once, which only an answer that is out by then survives; one that
   * comes from another worker is not. So that call of `end` waits for what is in flight, as long as
   * that goes forward: a client that is gone altogether looks the same.
   */
  #answerHalfClosed(): void {
    const { socket } = this
    const end = socket.end.bind(socket)
    let isEnding = false
    socket.prependListener('end', () => (isEnding = true))
    socket.on('end', () => (isEnding = false))
    const held = (...args: Parameters<typeof end>): Socket => {
      if (!isEnding || args.length > 0 || this.inFlight === 0 || this.state === 'upgraded') return end(...args)
      this.state = 'closing'
      whenStalled(socket, end)
      return socket
    }
    socket.end = held as typeof end
  }

  /**
   * A program that destroys its request, response or socket before it has answered would leave the
   * client with a closed connection and no reason. All three end in the socket's `destroy`, so this
   * is the one place to say 502; it costs a property per connection and nothing per request. Where
   * several are in flight and it may have been a later one, the client gets none: the next answer
   * would be another's. A `syscall` in the error means that the client itself is gone.
   */
  #answerHangUps(): void {
    const { socket } = this
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (error?: NodeJS.ErrnoException) => {
      const head = this.#head
      const isOfHead = this.inFlight === 1 || head?.req.destroyed === true || head?.res.destroyed === true
      if (
        head?.service !== undefined &&
        isOfHead &&
        !this.#broken &&
        error?.syscall === undefined &&
        this.#canAnswer(head)
      )
        socket.write(textFor(hangUp(head.service, 'SERVICE_HANGUP'), head))
      return destroy(error)
    }
  }

  /** The request whose answer is next to be sent: of all responses on a connection, Node gives this one the socket. */
  get #head(): RequestContext | undefined {
    return this.#requests.find(({ res }) => res.socket === this.socket)
  }

  /** True when text may take the place of the answer to `context`, or of nothing where nothing is in flight. */
  #canAnswer(context: RequestContext | undefined): boolean {
    return this.socket.writable && this.#head === context && context?.res.headersSent !== true
  }
}

/** Calls `giveUp` when nothing has been written for a moment. */
export function whenStalled(socket: Socket, giveUp: () => void): void {
  let { bytesWritten } = socket
  const timer = setInterval(() => {
    if (socket.bytesWritten === bytesWritten) giveUp()
    else ({ bytesWritten } = socket)
  }, lingerTime)
  socket.once('close', () => clearInterval(timer))
}

function textFor(problem: Problem, context: RequestContext | undefined): string {
  return problemText(problem, context?.path, context?.req.method)
}

/** Whatever more arrives of this body goes nowhere; the program has it no longer. */
function swallow(req: IncomingMessage, onTooMuch: () => void): void {
  let left = lingerBytes
  req.push = (chunk: Buffer | null) => {
    if (chunk !== null && (left -= chunk.length) < 0) onTooMuch()
    return true
  }
  req.resume()
}
