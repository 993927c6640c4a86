import type { IncomingMessage } from 'node:http'
import { type ConnectionParser, parserOf } from '../mesh/bytes/accept.ts'
import type { Connection } from './connection.ts'

/** A request that is answered without Node's server, as long as it is the only one of its connection. */
export interface Lone {
  readonly isOver: boolean
  /** Another one has come before it is answered: it is to {@link Arrivals.giveBack} itself now. */
  useResponse(): void
}

export interface ArrivalsParts {
  /** Undefined: it is for the server. Else {@link Arrivals.answered} or {@link Arrivals.giveBack} follows, maybe at once. */
  take(req: IncomingMessage, arrivals: Arrivals): Lone | undefined
  /** Milliseconds that a connection may stay without a request; 0: any time. */
  readonly idleTime: number
}

/**
 * The requests of one connection on their way from Node's parser to Node's server. One that a piece of text answers need not
 * get there: the server would make a response for it, with listeners, a list of headers and the states of a stream. It goes
 * there late where that turns out to be needed, as when another request comes before it is answered: answers leave in the
 * order of their requests (RFC 9112, 9.3.2), and the server sees to that.
 *
 *     parser ──▶ arrivals ──▶ Node's server ──▶ 'request' ──▶ a program, a stream, a problem
 *                    └──────▶ a typed call  ──▶ its text
 */
export class Arrivals {
  readonly connection: Connection
  readonly #parts: ArrivalsParts
  readonly #toServer: NonNullable<ConnectionParser['onIncoming']>
  #lone: Lone | undefined
  /** Node times idle connections by their responses, and has seen none of these. */
  #timesIdle = false

  /** Where Node keeps its parser to itself, every request goes to the server. */
  static watch(connection: Connection, parts: ArrivalsParts): void {
    const parser = parserOf(connection.socket)
    if (parser !== undefined) new Arrivals(connection, parser, parts).#stepIn(parser)
  }

  private constructor(connection: Connection, parser: ConnectionParser, parts: ArrivalsParts) {
    this.connection = connection
    this.#parts = parts
    this.#toServer = parser.onIncoming!
  }

  /** The text of the lone request's answer has been written. */
  answered(): void {
    const { idleTime } = this.#parts
    this.#lone = undefined
    if (this.#timesIdle || idleTime === 0) return
    // Only once: whatever is read or written begins it anew.
    this.#timesIdle = true
    this.connection.socket.setTimeout(idleTime)
  }

  /** The server makes a response for the lone request after all, and emits `request` with it before this returns. */
  giveBack(req: IncomingMessage, keepAlive: boolean): void {
    this.#lone = undefined
    this.#give(req, keepAlive)
  }

  #stepIn(parser: ConnectionParser): void {
    parser.onIncoming = (req, keepAlive) => {
      this.#lone?.useResponse()
      if (!keepAlive || !this.#mayBeLone(req)) return this.#give(req, keepAlive)
      const lone = this.#parts.take(req, this)
      if (lone === undefined) return this.#give(req, keepAlive)
      if (!lone.isOver) this.#lone = lone
      return 0
    }
  }

  /** It is alone, on a connection that goes on, and nothing in its head asks for more than an answer. */
  #mayBeLone({ method, upgrade, headers, httpVersionMinor }: IncomingMessage & { upgrade?: boolean | null }): boolean {
    const { state, inFlight, socket } = this.connection
    return (
      state === 'open' &&
      inFlight === 0 &&
      !socket.writableNeedDrain &&
      httpVersionMinor === 1 &&
      upgrade !== true &&
      method !== 'HEAD' &&
      method !== 'OPTIONS' &&
      headers.origin === undefined &&
      headers['transfer-encoding'] === undefined &&
      headers.expect === undefined
    )
  }

  #give(req: IncomingMessage, keepAlive: boolean): number {
    if (this.#timesIdle) {
      this.#timesIdle = false
      this.connection.socket.setTimeout(0)
    }
    return this.#toServer(req, keepAlive)
  }
}
