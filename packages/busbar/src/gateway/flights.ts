import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallCount } from '../contract/host/host.ts'
import { MeasuredCall, type Meter } from '../mesh/meter.ts'
import { isFailed } from '../mesh/failed-response.ts'
import type { Connection } from './connection.ts'
import { FlightList } from './flight-list.ts'
import type { Reply } from './reply.ts'

/** A request that has arrived and is not answered to its end. */
export interface Flight {
  readonly req: IncomingMessage
  /** Another one where it turns out late that Node's response is needed: {@link Flights.adopt}. */
  reply: Reply
  readonly connection: Connection
  /** Undefined until it is routed. */
  service: string | undefined
  /** Where the service counts it; set by {@link Flights.handedOver}. */
  count: CallCount | undefined
  /** Of the few whose time is taken. */
  measured: MeasuredCall | undefined
  /** The tick at which the service could begin to answer. */
  since: number
  /** Where it stands in {@link Flights}; undefined when it has ended. */
  list: FlightList | undefined
  previous: Flight | undefined
  next: Flight | undefined
}

/** Found again by its response, which all events of Node's are about. */
const flightOf = Symbol('flight')
type Carrier = Reply & { [flightOf]?: Flight }

export interface FlightParts {
  /** Milliseconds until an answer must have begun; 0: no limit. */
  readonly responseTimeout: number
  readonly onOverdue: (flight: Flight) => void
  /** One more or one less is in flight. */
  readonly onCount: (by: 1 | -1) => void
  readonly meter?: Meter | undefined
}

/** How finely the response timeout is watched: one timer for all, and no clock read per request. */
const ticksPerTimeout = 8

/**
 * What is in flight, in the order it arrived, so that the overdue are found at the front. Those that have begun their
 * answer are moved aside when the watch meets them, which keeps long streams out of its way.
 */
export class Flights {
  readonly #waiting = new FlightList()
  readonly #answering = new FlightList()
  readonly #parts: FlightParts
  readonly #watch: NodeJS.Timeout | undefined
  /** One listener for all responses: `close` comes however a response ends. */
  readonly #closed: (this: ServerResponse) => void
  #tick = 0

  constructor(parts: FlightParts) {
    this.#parts = parts
    const end = (res: ServerResponse) => this.end(this.of(res))
    this.#closed = function onClose() {
      end(this)
    }
    if (parts.responseTimeout === 0) return
    this.#watch = setInterval(() => this.#findOverdue(), Math.max(1, parts.responseTimeout / ticksPerTimeout))
    this.#watch.unref()
  }

  get size(): number {
    return this.#waiting.size + this.#answering.size
  }

  /** Over when the response has closed. */
  begin(req: IncomingMessage, res: ServerResponse, connection: Connection): Flight {
    const flight = this.beginPlain(req, res, connection)
    res.on('close', this.#closed)
    return flight
  }

  /** Over when {@link end} says so. */
  beginPlain(req: IncomingMessage, reply: Reply, connection: Connection): Flight {
    const flight: Flight = {
      req,
      reply,
      connection,
      service: undefined,
      count: undefined,
      measured: undefined,
      since: this.#tick,
      list: undefined,
      previous: undefined,
      next: undefined,
    }
    this.#waiting.add(flight)
    ;(reply as Carrier)[flightOf] = flight
    connection.began(flight)
    this.#parts.onCount(1)
    return flight
  }

  /** Node's response answers it after all. */
  adopt(flight: Flight, res: ServerResponse): void {
    flight.reply = res
    ;(res as Carrier)[flightOf] = flight
    res.on('close', this.#closed)
  }

  routed(flight: Flight, service: string): void {
    flight.service = service
    const { meter } = this.#parts
    const weight = meter?.next() ?? 0
    if (weight > 0) flight.measured = new MeasuredCall(meter!, undefined, service, weight)
  }

  /** The service in this thread has it now. */
  handedOver(flight: Flight, count: CallCount | undefined): void {
    flight.count = count
    count?.began()
  }

  of(reply: Reply): Flight | undefined {
    const flight = (reply as Carrier)[flightOf]
    return flight?.list === undefined ? undefined : flight
  }

  /** A list of its own: its reader may end some of them. */
  all(): readonly Flight[] {
    return [...this.#waiting, ...this.#answering]
  }

  /** A pipelined response whose turn never came closes without a word when its connection does. */
  drop(connection: Connection): void {
    for (const flight of this.all()) {
      if (flight.connection !== connection) continue
      flight.reply.abandon?.()
      this.end(flight)
    }
  }

  stopWatching(): void {
    clearInterval(this.#watch)
  }

  /** Once; nothing where it has ended. */
  end(flight: Flight | undefined): void {
    if (flight?.list === undefined) return
    flight.list.remove(flight)
    this.#parts.onCount(-1)
    flight.connection.ended(flight)
    flight.measured?.end()
    flight.count?.left(isFailed(flight.reply))
  }

  #findOverdue(): void {
    this.#tick++
    for (const flight of this.#waiting) {
      if (flight.reply.headersSent) this.#setAside(flight)
      else if (this.#tick - flight.since <= ticksPerTimeout) return
      // The service is not late while its caller is still sending: that is the request timeout's to judge.
      else if (!flight.req.complete) this.#postpone(flight)
      else this.#parts.onOverdue(flight)
    }
  }

  #setAside(flight: Flight): void {
    this.#waiting.remove(flight)
    this.#answering.add(flight)
  }

  /** To the end, which keeps the order by `since`. */
  #postpone(flight: Flight): void {
    flight.since = this.#tick
    this.#waiting.remove(flight)
    this.#waiting.add(flight)
  }
}
