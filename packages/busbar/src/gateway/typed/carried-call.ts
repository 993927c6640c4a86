import type { HttpResponse, ResponseSink, StartedCall } from '../../contract/http/responder.ts'
import type { CallEdge } from '../../contract/call/call-edge.ts'
import type { HttpCarrier } from '../../shared/entrance/http-carrier.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { OwnResponses } from '../problems/own-responses.ts'
import type { Problem } from '../problems/problem.ts'
import { errorTable } from '../../contract/errors.ts'
import type { ResponseWriter } from './response-text.ts'

/** What all calls of a gateway share. */
export interface CallOwner {
  readonly writer: ResponseWriter
  /** In the place of services. */
  readonly responses: OwnResponses
  /** Clients are to close their connections. */
  readonly isStopping: boolean
  ended(call: CarriedCall): void
}

/** A call of a typed service by a request of HTTP that has no connection. */
export class CarriedCall implements ResponseSink {
  readonly service: string
  /** The tick of its owner from which the response timeout counts. */
  since = 0
  isOver = false
  readonly #carrier: HttpCarrier
  readonly #owner: CallOwner
  readonly #origin: string | undefined
  readonly #edge: CallEdge | undefined
  readonly #began: number | undefined
  #started: StartedCall | undefined

  constructor(
    carrier: HttpCarrier,
    owner: CallOwner,
    service: string,
    origin: string | undefined,
    edge: CallEdge | undefined,
  ) {
    this.service = service
    this.#carrier = carrier
    this.#owner = owner
    this.#origin = origin
    this.#edge = edge
    this.#began = edge?.begin()
  }

  /** Its client may give it up from now on. */
  started(call: StartedCall): void {
    if (this.isOver) return call.abandon()
    this.#started = call
  }

  answer(answer: HttpResponse): void {
    if (this.isOver) return
    const { writer, isStopping } = this.#owner
    const { text, encoding } = writer.text(answer, this.#origin, isStopping)
    this.#end(answer.status)
    this.#carrier.answer(text, encoding)
  }

  /** Methods that stream are not called this way. */
  stream(): never {
    throw new TypeError('the call is not a stream')
  }

  /** The gateway answers in its place, and the client's connection ends. `status`: it counts so. */
  refuse(problem: Problem, status: number = errorTable[problem.code].status): void {
    if (this.isOver) return
    this.#end(status)
    const text = this.#owner.responses.text(problem, { path: this.#carrier.url, origin: this.#origin })
    this.#carrier.answer(text, 'utf8')
    this.#started?.abandon()
  }

  /** The client has disconnected. */
  closed(): void {
    if (this.isOver) return
    this.#end(noStatus)
    this.#started?.abandon()
  }

  destroy(): void {
    this.#carrier.reset()
    this.closed()
  }

  #end(status: number): void {
    this.isOver = true
    this.#edge?.end(status, this.#began)
    this.#owner.ended(this)
  }
}
