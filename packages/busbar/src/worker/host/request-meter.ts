import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isFailed } from '../../mesh/failed-response.ts'
import { MeasuredCall, type Meter } from '../../mesh/meter.ts'
import type { InstanceCells } from '../../shared/instances.ts'

export interface Metered {
  readonly service: string
  readonly count: InstanceCells
  readonly meter: Meter
}

/** Counts and measures every request of a connection that came from outside. */
export class RequestMeter {
  readonly #what: Metered
  /** Requests that were not answered when the turn of the event loop that brought them was over. */
  readonly #slow = new Set<ServerResponse>()
  #closed = false

  constructor(socket: Socket, what: Metered) {
    this.#what = what
    socket.once('close', () => this.#close())
  }

  /** Before the program sees it: a request that blocks its thread is in flight. An upgrade has no response, and is over at once. */
  began(response: ServerResponse | undefined): void {
    const { service, count, meter } = this.#what
    const weight = meter.next()
    count.began()
    if (response === undefined) return count.left(false)
    if (begun.push({ meter: this, response }) === 1) setImmediate(endTurn)
    if (weight > 0) response.on('close', new MeasuredCall(meter, undefined, service, weight).end)
  }

  /** The turn is over in which it began. */
  endTurn(response: ServerResponse): void {
    if (response.writableFinished || this.#closed) return this.#what.count.left(isFailed(response))
    this.#slow.add(response)
    response.on('close', () => this.#answered(response))
  }

  #answered(response: ServerResponse): void {
    if (this.#slow.delete(response)) this.#what.count.left(isFailed(response))
  }

  /** With requests that were not answered: those behind the first were pipelined, and have no answer yet. */
  #close(): void {
    this.#closed = true
    for (const response of this.#slow) this.#answered(response)
  }
}

interface Begun {
  readonly meter: RequestMeter
  readonly response: ServerResponse
}

/** Most requests are answered in the turn in which they begin: a listener of each response would take longer than all else here. */
const begun: Begun[] = []

function endTurn(): void {
  for (const { meter, response } of begun.splice(0)) meter.endTurn(response)
}
