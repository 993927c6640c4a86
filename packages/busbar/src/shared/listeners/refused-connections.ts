import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RefusalCounts } from '../metrics/refusals.ts'

/**
 * Why a connection is refused. `down`: no worker is ready; `full`: too few descriptors are left.
 */
export type RefusalReason = 'down' | 'full'

/** Milliseconds that a client may take to close a refused connection. */
const lingerTime = 1000

/** Milliseconds for the first bytes of a request, which say whether the response has a body. */
const methodTime = 100

/** Maximum number of refused connections open at a time; `full` leaves descriptors to others. */
const most: Readonly<Record<RefusalReason, number>> = { down: 64, full: 4 }

/**
 * Answers connections that cannot be served with a constant response, and closes them. So an open
 * port always answers. Of the request only the method is read: for HEAD the body is left out.
 */
export class RefusedConnections {
  readonly #open = new Set<Socket>()
  readonly #counts: RefusalCounts

  constructor(counts: RefusalCounts) {
    this.#counts = counts
  }

  /** `isTls`: the client expects a handshake. */
  refuse(socket: Socket, why: RefusalReason, isTls: boolean): void {
    socket.on('error', () => {})
    this.#counts.count(why === 'down' ? 'no_worker' : 'connection_limit')
    const answer = isTls ? alert : answers[why]
    // Closing with unread input resets the connection and may discard the response (RFC 9112, 9.6).
    if (this.#open.size >= most[why]) return socket.end(answer).destroySoon()
    this.#open.add(socket)
    const respond = (first?: Buffer): unknown => socket.writableEnded || socket.end(forRequest(answer, first))
    const timers = [setTimeout(() => socket.destroy(), lingerTime), setTimeout(respond, methodTime)]
    socket.once('close', () => {
      for (const timer of timers) clearTimeout(timer)
      this.#open.delete(socket)
    })
    socket
      .once('data', respond)
      .once('end', () => respond())
      .resume()
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }
}

/** As in `contract/errors.ts`. */
const code = 'SERVICE_UNAVAILABLE'
const status = 503

const answers: Readonly<Record<RefusalReason, Buffer>> = {
  down: answerOf('no worker serves at the moment; the log has the reason'),
  full: answerOf('too many connections are open'),
}

/**
 * A fatal TLS alert, `internal_error` (RFC 8446, 6.2): nothing else is possible before a handshake.
 */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 80])

/** `first`: the first bytes of the request, if any have come. */
function forRequest(answer: Buffer, first: Buffer | undefined): Buffer {
  const isHead = first?.toString('latin1', 0, 5) === 'HEAD '
  return isHead ? answer.subarray(0, answer.indexOf('\r\n\r\n') + 4) : answer
}

/** A problem of RFC 9457, like the gateway's. */
function answerOf(detail: string): Buffer {
  const title = STATUS_CODES[status]!
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'retry-after: 1',
    'connection: close',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
