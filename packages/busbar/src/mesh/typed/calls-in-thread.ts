import type { CallOrigin, LiveCall } from '../../contract/call/live-call.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { CallSink } from '../../contract/host/sink-answer.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import type { Method } from '../../contract/method.ts'
import { MethodEdges } from './method-edges.ts'
import type { TypedMesh } from './mesh-transport.ts'

/**
 * Calls from outside the app to one method of a service in this thread. They take no promise and no
 * signal: for a small call these were a tenth of its cost.
 */
export class CallsInThread {
  readonly #mesh: TypedMesh
  readonly #service: string
  readonly #name: string
  readonly #edges: MethodEdges
  /** Calls with a key, with many inputs or with a trace take the usual way. */
  readonly #isSimple: boolean
  #host: TypedHost | undefined
  #hosted: HostedMethod | undefined

  constructor(mesh: TypedMesh, service: string, name: string, { kind, key, takesMany }: Method) {
    this.#mesh = mesh
    this.#service = service
    this.#name = name
    this.#edges = new MethodEdges(mesh.meter, service, name)
    this.#isSimple = kind === 'fn' && key === undefined && takesMany !== true && mesh.tracer === undefined
  }

  /** Undefined if the call has to take the usual way. `sink` may be called before this returns. */
  start(input: unknown, origin: CallOrigin, sink: CallSink): LiveCall | undefined {
    const endpoint = this.#isSimple ? this.#mesh.router.find(this.#service) : undefined
    if (endpoint?.at !== 'here' || endpoint.typed === undefined) return undefined
    if (endpoint.typed !== this.#host) {
      this.#host = endpoint.typed
      this.#hosted = endpoint.typed.method(this.#name)
    }
    const hosted = this.#hosted!
    const call = hosted.open({ ...origin, hops: 1, mayAbort: true })
    hosted.callWithCallback(sink, input, call, true, this.#edges.to(endpoint, undefined))
    return call
  }
}
