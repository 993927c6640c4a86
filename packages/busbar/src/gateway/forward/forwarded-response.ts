import {
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { CallEdge } from '../../contract/call/call-edge.ts'
import { BusbarError } from '../../contract/errors.ts'
import { isChunked } from '../../mesh/http/body-framing.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../mesh/http/exchange.ts'
import { TurnBatch } from '../../mesh/batch.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { closes, endToEndHeaders } from './hop-by-hop.ts'

export interface ForwardedResponseParts {
  readonly service: string
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /**
   * True while `connection: close` is the service's word. The connections of an instance that
   * drains end with such a response, and the client's is not one of them.
   */
  readonly mayClose: () => boolean
  /** No response has begun, and none will. The caller must respond. */
  readonly onLost: (error: Error) => void
  /** Counts the call. */
  readonly edge: CallEdge | undefined
  /** Another instance has the request than before: its worker, as for `end` of an edge. */
  readonly found: (callee: number | undefined) => void
  /**
   * Sends the request again after `failed`, if nothing came for it. Returns undefined if that is
   * not safe.
   */
  readonly resend?: (failed: Exchange) => Exchange | undefined
}

/**
 * Node sends a head with the first bytes of the body. Most responses have some by the end of the
 * turn of the event loop. For the others the head is flushed: a client of server-sent events waits
 * for it.
 */
const heads = new TurnBatch<ForwardedResponse>(setImmediate, (response) => response.flushHead())

/**
 * Forwards the response of a service elsewhere to the client. The service's data is not trusted: a
 * status, header field or reason for which Node's response throws is reported as the service's
 * failure.
 */
export class ForwardedResponse implements ExchangeHandler {
  exchange: Exchange | undefined
  readonly #parts: ForwardedResponseParts
  /** Forwarding has failed. */
  #isDone = false
  /** 1xx has come: the service has begun with the request. */
  #hasBegun = false
  /** Set when the request is sent again. It is reported if the second attempt fails too. */
  #firstError: Error | undefined
  /** Node holds the head back until the first bytes of the body. */
  #isHeadHeld = false
  /** The body ends with the connection. */
  #hasNoEnd = false

  constructor(parts: ForwardedResponseParts) {
    this.#parts = parts
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    const { req, res } = this.#parts
    this.#hasBegun = true
    // HTTP/1.0 has no 1xx responses (RFC 9110, 15.2).
    if (this.#isOver || res.headersSent || req.httpVersionMinor === 0) return
    try {
      if (status === 100) res.writeContinue()
      else if (status === 102) res.writeProcessing()
      else if (status === 103) res.writeEarlyHints(toEarlyHints(headers))
      // Node's server has no method for others (RFC 9110, 15.2). Behind other responses it would be
      // theirs.
      else res.socket?.write(informationText(status, headers), 'latin1')
    } catch {
      // Informational responses are optional.
    }
  }

  onHead({ status, statusText, rawHeaders = [] }: ResponseHead): void {
    if (this.#isOver) return
    const { req, res, mayClose } = this.#parts
    const hasChunks = mayHaveChunks(req, status)
    if (req.httpVersionMinor > 0 && closes(rawHeaders) && mayClose()) res.shouldKeepAlive = false
    const closing = res.shouldKeepAlive ? '' : ', close'
    const upgrade = status === upgradeRequired ? `upgrade${closing}` : undefined
    const fields = endToEndHeaders(rawHeaders, { keepsFraming: hasChunks, upgrade })
    this.#hasNoEnd = !hasChunks && hasUnknownLength(fields)
    this.#guard(() => {
      if (hasDoubtfulEnd(fields)) throw new TypeError('its fields state more than one end of its body')
      // What is behind the stated length would be read as the next response.
      res.strictContentLength = true
      // The service has set a date, or has chosen not to.
      res.sendDate = false
      res.writeHead(status, statusText, hasChunks && hasUnknownLength(fields) ? fields : withoutTrailer(fields))
      // Behind other responses, Node would put a held head before queued 1xx responses.
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
    if (this.#isOver) return true
    const { res } = this.#parts
    let hasRoom = true
    this.#guard(() => {
      hasRoom = res.write(chunk)
      this.#isHeadHeld = false
    })
    if (!hasRoom) res.once('drain', () => this.exchange!.resume())
    return hasRoom
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

  onWaited(milliseconds: number): void {
    this.#parts.edge?.waited?.(milliseconds)
  }

  onRetry(callee: number | undefined): void {
    this.#parts.edge?.retried()
    this.#parts.found(callee)
  }

  onRefused(): void {
    this.#parts.found(noWorker)
  }

  onError(error: Error): void {
    if (this.#isOver) return
    const { res, resend } = this.#parts
    if (res.headersSent) return this.#truncate()
    const next = this.#hasBegun ? undefined : resend?.(this.exchange!)
    if (next === undefined) return this.#fail(this.#firstError ?? error)
    this.#parts.edge?.retried()
    this.exchange = next
    this.#firstError = error
  }

  #guard(write: () => void): void {
    try {
      write()
    } catch (thrown) {
      const { res, service } = this.#parts
      const message = `the response of service '${service}' cannot be forwarded: ${(thrown as Error).message}`
      if (res.headersSent) this.#truncate()
      else this.#fail(new BusbarError('ANSWER_MALFORMED', { message, service, cause: thrown }))
      this.exchange!.abort()
    }
  }

  #fail(error: Error): void {
    this.#isDone = true
    this.#parts.onLost(error)
  }

  /** Sends what was written and closes, so that the client sees a truncated response. */
  #truncate(): void {
    this.flushHead()
    this.#isDone = true
    const { res } = this.#parts
    // Node holds written data back until the next tick (Node 26: in the response itself).
    process.nextTick(() => {
      if (res.socket === null) res.destroy()
      else if (this.#hasNoEnd) breakOff(res.socket)
      else res.socket.destroySoon()
    })
  }

  /** Another response was sent meanwhile, or the client is gone. */
  get #isOver(): boolean {
    const { res } = this.#parts
    return this.#isDone || res.destroyed || res.writableEnded
  }
}

/** Throws for fields that are not valid. */
function informationText(status: number, headers: ResponseHead['headers']): string {
  const raw = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]))
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  const fields = endToEndHeaders(raw, { keepsFraming: false })
  for (let at = 0; at < fields.length; at += 2) {
    validateHeaderName(fields[at]!)
    validateHeaderValue(fields[at]!, fields[at + 1]!)
    text += `${fields[at]}: ${fields[at + 1]}\r\n`
  }
  return `${text}\r\n`
}

/** Behind what was written, so that the client sees that it is not all. */
function breakOff(socket: Socket): void {
  // Over TLS there is no reset. An end without a word of TLS says the same.
  socket.write('', () => (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()))
}

const upgradeRequired = 426

/** False for HTTP/1.0 and for responses without a body. */
function mayHaveChunks({ method, httpVersionMinor }: IncomingMessage, status: number): boolean {
  return httpVersionMinor > 0 && method !== 'HEAD' && status !== 204 && status !== 304
}

function hasUnknownLength(fields: readonly string[]): boolean {
  return !fields.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-length')
}

/** Receivers disagree about where such a body ends (RFC 9112, 6.3). */
function hasDoubtfulEnd(fields: readonly string[]): boolean {
  let length: string | undefined
  let coding: string | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase()
    if (name === 'transfer-encoding') coding = fields[at + 1]!
    if (name !== 'content-length') continue
    if (!/^\d+$/.test(fields[at + 1]!) || (length !== undefined && length !== fields[at + 1])) return true
    length = fields[at + 1]
  }
  return coding !== undefined && (length !== undefined || !isChunked(coding))
}

/** Without chunks there are no trailers, and Node throws for a `Trailer` field. */
function withoutTrailer(fields: readonly string[]): string[] {
  return fields.filter((_, at) => fields[at - (at % 2)]!.toLowerCase() !== 'trailer')
}

/** Fields for `writeEarlyHints`, which accepts one link per text only. */
function toEarlyHints(headers: ResponseHead['headers']): Record<string, string | string[]> {
  const { link, ...others } = headers
  return link === undefined ? others : { link: splitLinks([link].flat().join(', ')), ...others }
}

/** A comma separates links (RFC 8288, 3) unless it is in the target or in quotes. */
function splitLinks(text: string): string[] {
  const links = text.match(/(?:<[^<>]*>|"[^"]*"|[^,<"])+/g) ?? []
  return links.map((one) => one.trim()).filter((one) => one !== '')
}
