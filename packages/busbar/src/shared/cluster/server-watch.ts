import type { Socket } from 'node:net'
import type { NatsConnection } from '@nats-io/transport-node'

/**
 * Milliseconds between two pings of the server. After the second unanswered one it counts as gone.
 */
const pingInterval = 4_000
const maxPingOut = 2

/**
 * Milliseconds: the client never pings by itself. It does not know what delays the answer to a
 * ping.
 */
export const clientPingInterval = 2 ** 31 - 1

export interface ServerWatchOptions {
  /** Milliseconds that what was sent before a ping may take. Default: hardly any. */
  readonly transitTime?: (() => number) | undefined
  /** Of the connection. Undefined: a message counts only when it is whole. */
  readonly socket?: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'> | undefined
}

/**
 * Closes a connection whose server has gone. Bytes that arrive show that it is there, because an
 * answer may be behind them; so do bytes that leave after they have waited for it. Intervals of a
 * timer are counted rather than time, because none pass while this thread is stopped.
 */
export function watchServer(connection: NatsConnection, options: ServerWatchOptions = {}): Disposable {
  const { transitTime = () => 0, socket } = options
  const signs = new SignsOfLife(connection, socket)
  let unanswered = 0
  const timer = setInterval(() => {
    if (signs.came()) unanswered = 0
    const excused = Math.floor(transitTime() / pingInterval)
    if (unanswered >= maxPingOut + excused) return void connection.close()
    unanswered++
    connection.flush().then(
      () => (unanswered = 0),
      () => {},
    )
  }, pingInterval).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** What a server has read and sent, as far as the socket shows it. */
class SignsOfLife {
  readonly #connection: NatsConnection
  readonly #socket: ServerWatchOptions['socket']
  #arrived = 0
  #left = 0
  /** The system took no more at the last look. What it takes then has room that the server made. */
  #isWaiting = false

  constructor(connection: NatsConnection, socket: ServerWatchOptions['socket']) {
    this.#connection = connection
    this.#socket = socket
  }

  /** Since the last look. */
  came(): boolean {
    const { bytesRead = this.#connection.stats().inBytes, bytesWritten = 0, writableLength = 0 } = this.#socket ?? {}
    const left = bytesWritten - writableLength
    const isThere = bytesRead !== this.#arrived || (this.#isWaiting && left > this.#left)
    this.#arrived = bytesRead
    this.#left = left
    this.#isWaiting = writableLength > 0
    return isThere
  }
}
