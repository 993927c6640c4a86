import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { interceptRequests } from '../../mesh/bytes/accept.ts'
import { responseOn } from '../../mesh/bytes/metered.ts'
import { isFailed } from '../../mesh/failed-response.ts'
import { MeasuredCall, type Meter } from '../../mesh/meter.ts'
import type { InstanceCells } from '../../shared/instances.ts'
import { replace } from '../../shared/replace.ts'

const metered = Symbol('busbar.metered')

type MeteredSocket = Socket & { [metered]?: MeteredConnection }

export interface Metered {
  readonly service: string
  readonly count: InstanceCells
  readonly meter: Meter
}

/** Counts and measures every request of a connection that came from outside, with nothing of ours in between. */
export function meterRequests(socket: Socket, what: Metered): void {
  const connection = new MeteredConnection(socket, what)
  if (!interceptRequests(socket, (_request, next) => connection.serve(next))) return
  ;(socket as MeteredSocket)[metered] = connection
  socket.once('close', () => connection.closed())
}

/**
 * Node detaches every response from its socket when it has left (`resOnFinish` in lib/_http_server.js). A listener of
 * each response would tell the same for half a microsecond, which is a twentieth of a small answer.
 */
export function hearAnswers(patches: DisposableStack): void {
  replace(patches, ServerResponse.prototype, 'detachSocket', (detach) => {
    return function (this: ServerResponse, socket: Socket) {
      ;(socket as MeteredSocket)[metered]?.answered(this)
      return Reflect.apply(detach, this, [socket])
    }
  })
}

class MeteredConnection {
  readonly #socket: Socket
  readonly #what: Metered
  #inFlight = 0

  constructor(socket: Socket, what: Metered) {
    this.#socket = socket
    this.#what = what
  }

  /** Counts from before the program sees it: a request that blocks its thread is in flight. */
  serve(next: () => number): number {
    const { service, count, meter } = this.#what
    const weight = meter.next()
    const measured = weight > 0 ? new MeasuredCall(meter, undefined, service, weight) : undefined
    this.#inFlight++
    count.began()
    const result = next()
    const response = responseOn(this.#socket)
    // An upgrade has none, and is over when it was accepted.
    if (response === undefined) this.#left(false)
    else if (measured !== undefined) response.once('close', measured.end)
    return result
  }

  answered(response: ServerResponse): void {
    this.#left(isFailed(response))
  }

  /** With requests that were not answered: those behind the first were pipelined, and have no answer yet. */
  closed(): void {
    const first = responseOn(this.#socket)
    this.#left(first === undefined || isFailed(first))
    while (this.#inFlight > 0) this.#left(true)
  }

  #left(failed: boolean): void {
    if (this.#inFlight === 0) return
    this.#inFlight--
    this.#what.count.left(failed)
  }
}
