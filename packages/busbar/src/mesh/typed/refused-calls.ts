import type { Trace } from '../../contract/context.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { transportTo } from '../routing/endpoint.ts'
import { MethodEdges } from './method-edges.ts'
import type { TypedMesh } from './mesh-transport.ts'

/**
 * Calls from outside the app to one method that the gateway has refused before it called the
 * method, such as one whose message it cannot read. They count like those that the service refuses.
 */
export class RefusedCalls {
  readonly #mesh: TypedMesh
  readonly #service: string
  readonly #method: string
  readonly #edges: MethodEdges

  constructor(mesh: TypedMesh, service: string, method: string) {
    this.#mesh = mesh
    this.#service = service
    this.#method = method
    this.#edges = new MethodEdges(mesh.meter, service, method)
  }

  /** `status`: of HTTP. `trace`: that of the client. Without an instance there is no edge. */
  count(status: number, trace: Trace | undefined): void {
    const { router, tracer } = this.#mesh
    const endpoint = router.find(this.#service)
    if (endpoint === undefined) return
    const edge = this.#edges.to(endpoint, undefined)
    const [service, method, transport] = [this.#service, this.#method, transportTo(endpoint)]
    const kind = edge?.spans ?? { part: 'call', caller: undefined, service, protocol: 'rpc', method, transport }
    const counted = tracer?.call(kind, undefined, trace, edge) ?? edge
    counted?.end(status, counted.begin(), noWorker)
  }
}
