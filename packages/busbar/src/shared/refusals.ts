import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Why a connection is not served. `down`: no worker serves; `full`: there are too few descriptors for it. */
export type Refusal = 'down' | 'full'

/** How long a client may take to close a refused connection, in milliseconds. */
const lingerTime = 1000

/** The most refused connections that are open at a time: those that are full leave their descriptors to others. */
const most: Readonly<Record<Refusal, number>> = { down: 64, full: 4 }

/**
 * Answers connections that nobody serves: the same bytes to each, without reading what it asks, and closes it. So an open port
 * always answers.
 */
export class Refusals {
  readonly #open = new Set<Socket>()

  /** `isTls`: the client expects a handshake. */
  refuse(socket: Socket, why: Refusal, isTls: boolean): void {
    socket.on('error', () => {})
    socket.end(isTls ? alert : answers[why])
    // Closing on unread bytes resets the connection, and may take the answer with it (RFC 9112, 9.6).
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

/** As `contract/errors.ts` has them. */
const code = 'SERVICE_UNAVAILABLE'
const status = 503

const answers: Readonly<Record<Refusal, Buffer>> = {
  down: answerOf('no worker serves at the moment; the log has the reason'),
  full: answerOf('too many connections are open'),
}

/** A fatal alert of TLS, `internal_error` (RFC 8446, 6.2): nothing else can be said before a handshake. */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 80])

/** A problem of RFC 9457, as the gateway answers them. */
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
