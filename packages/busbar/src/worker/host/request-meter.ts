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
  /** In the order of their requests, which is that in which HTTP/1 answers. */
  readonly #inFlight: ServerResponse[] = []

  constructor(socket: Socket, what: Metered) {
    this.#what = what
    socket.once('close', () => this.#closed())
  }

  /** Before the program sees it: a request that blocks its thread is in flight. An upgrade has no response, and is over at once. */
  began(response: ServerResponse | undefined): void {
    const { service, count, meter } = this.#what
    const weight = meter.next()
    count.began()
    if (response === undefined) return count.left(false)
    this.#inFlight.push(response)
    response.on('close', this.#answered)
    if (weight > 0) response.on('close', new MeasuredCall(meter, undefined, service, weight).end)
  }

  readonly #answered = (): void => {
    const response = this.#inFlight.shift()
    if (response !== undefined) this.#what.count.left(isFailed(response))
  }

  /** With requests that were not answered: those behind the first were pipelined, and have no answer yet. */
  #closed(): void {
    this.#answered()
    for (const _ of this.#inFlight.splice(0)) this.#what.count.left(true)
  }
}
