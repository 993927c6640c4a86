import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Why a connection is refused. `down`: no worker is ready; `full`: too few descriptors are left.
 */
export type RefusalReason = 'down' | 'full'

/** Milliseconds that a client may take to close a refused connection. */
const lingerTime = 1000

/** Maximum number of refused connections open at a time; `full` leaves descriptors to others. */
const most: Readonly<Record<RefusalReason, number>> = { down: 64, full: 4 }

/**
 * Answers connections that cannot be served with a constant response, without reading the request,
 * and closes them. So an open port always answers.
 */
export class RefusedConnections {
  readonly #open = new Set<Socket>()

  /** `isTls`: the client expects a handshake. */
  refuse(socket: Socket, why: RefusalReason, isTls: boolean): void {
    socket.on('error', () => {})
    socket.end(isTls ? alert : answers[why])
    // Closing with unread input resets the connection and may discard the response (RFC 9112, 9.6).
    if (this.#open.size >= most[why]) return socket.destroySoon()
    this.#open.add(socket)
    const timer = setTimeout(() => socket.destroy(), lingerTime)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#open.delete(socket)
    })
    socket.resume()
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
