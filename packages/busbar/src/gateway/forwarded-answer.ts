import type { IncomingMessage, ServerResponse } from 'node:http'
import { BusbarError } from '../contract/errors.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../mesh/http/exchange.ts'
import { Turn } from '../mesh/turn.ts'
import { closes, endToEnd } from './end-to-end.ts'
import { readHints } from './early-hints.ts'

export interface ForwardedAnswerParts {
  readonly service: string
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The connection is as good as the service's own: it may end it. */
  readonly mayClose: boolean
  /** No answer has begun, and none will: the response is whoever asked's to make. */
  readonly onLost: (error: Error) => void
  /** The request once more, where it may be made again after `failed`. */
  readonly again?: (failed: Exchange) => Exchange | undefined
}

/**
 * Node sends a head with the body's first bytes. Those of most answers have come by the end of the turn; for the others
 * the client waits, such as for the first of a service's events.
 */
const heads = new Turn<ForwardedAnswer>(setImmediate, (answer) => answer.flushHead())

/**
 * The answer of a service elsewhere, on its way to the client. What a service says is foreign: a
 * status, a field or a reason that Node's response throws for is the service's failure, and ends
 * here.
 */
export class ForwardedAnswer implements ExchangeHandler {
  exchange: Exchange | undefined
  readonly #parts: ForwardedAnswerParts
  /** It was answered, or given up. */
  #isDone = false
  /** Of a request that is made again: a service may have seen it, even where then there is none to ask. */
  #firstError: Error | undefined
  /** The client has nothing of the answer yet. */
  #isHeadHeld = false

  constructor(parts: ForwardedAnswerParts) {
    this.#parts = parts
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    const { req, res } = this.#parts
    // A client of HTTP/1.0 knows no such answers (RFC 9110, 15.2).
    if (this.#isOver || res.headersSent || req.httpVersionMinor === 0) return
    try {
      if (status === 100) res.writeContinue()
      else if (status === 102) res.writeProcessing()
      else if (status === 103) res.writeEarlyHints(readHints(headers))
    } catch {
      // Information may always be left out.
    }
  }

  onHead({ status, statusText, rawHeaders = [] }: ResponseHead): void {
    if (this.#isOver) return
    const { req, res, mayClose } = this.#parts
    const hasChunks = mayHaveChunks(req, status)
    if (mayClose && req.httpVersionMinor > 0 && closes(rawHeaders)) res.shouldKeepAlive = false
    const closing = res.shouldKeepAlive ? '' : ', close'
    const upgrade = status === upgradeRequired ? `upgrade${closing}` : undefined
    const fields = endToEnd(rawHeaders, { anew: !hasChunks, upgrade })
    this.#guard(() => {
      // The service has dated its answer, or has chosen not to.
      res.sendDate = false
      res.writeHead(status, statusText, hasChunks && isUnbounded(fields) ? fields : withoutTrailer(fields))
      // Where its turn has not come, Node would put a head that it holds in front of the information that waits.
      if (res.socket === null) return res.flushHeaders()
      this.#isHeadHeld = true
      heads.add(this)
    })
  }

  flushHead(): void {
    if (this.#isHeadHeld && !this.#isOver) this.#parts.res.flushHeaders()
    this.#isHeadHeld = false
  }

  onData(chunk: Uint8Array | string): boolean {
    const { res } = this.#parts
    this.#isHeadHeld = false
    if (this.#isOver || res.write(chunk)) return true
    res.once('drain', () => this.exchange!.resume())
    return false
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#isOver) return
    const { res } = this.#parts
    const fields = Object.entries(trailers).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    )
    this.#guard(() => {
      if (fields.length > 0 && res.chunkedEncoding) res.addTrailers(fields)
      res.end()
    })
  }

  onDrain(): void {
    this.#parts.req.resume()
  }

  onError(error: Error): void {
    if (this.#isOver) return
    const { res, again } = this.#parts
    if (res.headersSent) return this.#cutOff()
    const next = again?.(this.exchange!)
    if (next === undefined) return this.#lose(this.#firstError ?? error)
    this.exchange = next
    this.#firstError = error
  }

  #guard(write: () => void): void {
    try {
      write()
    } catch (thrown) {
      const { res, service } = this.#parts
      const message = `service '${service}' answered what cannot be passed on: ${(thrown as Error).message}`
      if (res.headersSent) this.#cutOff()
      else this.#lose(new BusbarError('ANSWER_MALFORMED', { message, service, cause: thrown }))
      this.exchange!.abort()
    }
  }

  #lose(error: Error): void {
    this.#isDone = true
    this.#parts.onLost(error)
  }

  /** Behind what was written: the client gets all there was, and sees that it is not the whole. */
  #cutOff(): void {
    this.#isDone = true
    const { res } = this.#parts
    // Node holds back what a response writes until the next tick (Node 26: in the response itself).
    process.nextTick(() => {
      if (res.socket === null) res.destroy()
      else res.socket.destroySoon()
    })
  }

  /** Something else was answered in the meantime, or nobody is there any more. */
  get #isOver(): boolean {
    const { res } = this.#parts
    return this.#isDone || res.destroyed || res.writableEnded
  }
}

const upgradeRequired = 426

/** A caller of HTTP/1.0 knows none, and some answers have no body. */
function mayHaveChunks({ method, httpVersionMinor }: IncomingMessage, status: number): boolean {
  return httpVersionMinor > 0 && method !== 'HEAD' && status !== 204 && status !== 304
}

function isUnbounded(fields: readonly string[]): boolean {
  return !fields.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-length')
}

/** Where there are no chunks there is no place for trailers, and Node refuses to announce any. */
function withoutTrailer(fields: readonly string[]): string[] {
  return fields.filter((_, at) => fields[at - (at % 2)]!.toLowerCase() !== 'trailer')
}
