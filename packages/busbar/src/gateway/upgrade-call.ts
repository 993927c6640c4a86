import type { IncomingMessage } from 'node:http'
import { noWorker } from '../shared/metrics/worker-pair.ts'
import { noStatus } from '../shared/metrics/edge-table.ts'
import { isFailedSpan } from '../shared/traces/span.ts'
import type { CallCounter } from '../contract/host/typed-host.ts'
import type { Meter } from '../mesh/meter.ts'
import { answererAt, transportTo } from '../mesh/routing/endpoint.ts'
import { onUpgradeAnswer } from '../mesh/sockets/upgrade-answer.ts'
import type { Scope } from '../mesh/scope.ts'
import { traceRequest } from '../mesh/tracing/traced-request.ts'
import type { TracedCall } from '../mesh/tracing/traced-call.ts'
import type { Tracer } from '../mesh/tracing/tracer.ts'
import type { Connection } from './connection.ts'
import type { Target } from './request-context.ts'

export interface UpgradeCallParts {
  readonly meter?: Meter | undefined
  readonly tracer?: Tracer | undefined
}

/** An upgrade counts for its route when its service begins to answer, with the status of that. */
export class UpgradeCall {
  readonly #trace: TracedCall | undefined
  readonly #ended: (status: number, callee?: number) => void
  #isOver = false

  /** `count`: of a service in this thread that is given the connection itself. */
  constructor(
    { meter, tracer }: UpgradeCallParts,
    req: IncomingMessage,
    connection: Connection,
    { route, endpoint }: Target,
    count: CallCounter | undefined,
  ) {
    const { service } = route
    const transport = transportTo(endpoint)
    const edge = meter?.arriving(route, req.method!, transport, req.url!)
    if (tracer !== undefined)
      this.#trace = traceRequest(tracer, { part: 'call', caller: undefined, service, transport }, req, edge)
    const counted = this.#trace ?? edge
    const began = counted?.begin()
    const timer = count?.countStart()
    this.#ended = (status, callee = answererAt(endpoint)) => {
      counted?.end(status, began, callee)
      count?.countEnd(isFailedSpan({ status }))
      timer?.end()
    }
    const { socket } = connection
    const watch = (): void => {
      // The client has left before the earlier responses were over.
      if (socket.destroyed) this.#end(noStatus)
      else onUpgradeAnswer(socket, (status) => this.#end(status))
    }
    // The responses to earlier requests of the connection come first.
    const earlier = connection.requests.at(-1)
    if (earlier === undefined) watch()
    else earlier.res.once('close', watch)
  }

  /** The scope in which a program of this thread has the connection. */
  within(scope: Scope): Scope {
    return this.#trace === undefined ? scope : { ...scope, trace: this.#trace }
  }

  /** The gateway answers in place of the service. `status`: as for a request. */
  failed(status: number = noStatus): void {
    // No instance has had the upgrade for which the gateway has a status.
    this.#end(status, status === noStatus ? undefined : noWorker)
  }

  #end(status: number, callee?: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ended(status, callee)
  }
}
