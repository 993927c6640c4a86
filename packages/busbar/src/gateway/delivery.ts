import type { Server } from 'node:http'
import { errorTable } from '../contract/errors.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import { noWorker } from '../shared/metrics/worker-pair.ts'
import { forward } from './forward/forward.ts'
import { KeepAliveAgent } from './forward/service-connections.ts'
import { type Handover, handleExpect } from './handover.ts'
import type { InFlightRequests } from './in-flight-requests.ts'
import { failureProblem } from './problems/gateway-problems.ts'
import type { OwnResponses } from './problems/own-responses.ts'
import type { RequestContext, Target } from './request-context.ts'

export interface DeliveryParts {
  readonly mesh: MeshContext
  readonly handover: Handover | undefined
  readonly inFlight: InFlightRequests
  readonly responses: OwnResponses
  /** Every request in flight. */
  readonly requests: () => Iterable<RequestContext>
}

/** Gives routed requests to their instances, each in one of three ways. */
export class Delivery {
  readonly #parts: DeliveryParts
  readonly #agent = new KeepAliveAgent()
  readonly #watch: Disposable

  constructor(parts: DeliveryParts) {
    this.#parts = parts
    this.#watch = parts.mesh.router.watch(({ server }) => this.#watchClose(server))
  }

  deliver(context: RequestContext, { route, endpoint }: Target): void {
    const { mesh, handover, inFlight } = this.#parts
    if (endpoint.at === 'here' && endpoint.requestListener !== undefined) {
      if (handleExpect(context)) endpoint.requestListener(context.req, context.res)
    } else if (endpoint.at === 'here' && handover?.accepts(endpoint) === true) {
      inFlight.handedOver(context, endpoint)
      handover.request(context, endpoint, context.within(route.scope))
    } else {
      const onLost = (error: Error): void => this.#failForwarded(context, route.service, error)
      const found = (callee: number | undefined): void => void (context.callee = callee)
      forward({ mesh, context, route, endpoint, found, agent: this.#agent, onLost })
    }
  }

  /** Closes the idle connections to services. */
  destroy(): void {
    this.#watch[Symbol.dispose]()
    this.#agent.destroy()
  }

  /**
   * `closeAllConnections()` of a program also closes the connections of the gateway's requests that
   * it has. Node's server knows only those that it has accepted. Idle ones are the gateway's: their
   * next request may be for another service.
   */
  #watchClose(server: Partial<Server>): void {
    // Servers of HTTP/2 have no such method.
    const close = server.closeAllConnections?.bind(server)
    if (close === undefined) return
    server.closeAllConnections = () => {
      close()
      for (const { handedTo, connection } of this.#parts.requests())
        if (handedTo?.server === server) connection.socket.destroy()
    }
  }

  /** A service elsewhere has not responded, and will not. */
  #failForwarded(context: RequestContext, service: string, error: Error): void {
    const { req, res, connection, path } = context
    const problem = failureProblem(error, service)
    if (errorTable[problem.code].status === 503) {
      context.callee = noWorker
      this.#parts.responses.send(req, res, problem, path)
    } else connection.failRequest(problem, context)
  }
}
