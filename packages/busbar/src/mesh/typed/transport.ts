import type { CallOptions } from '../../contract/calls.ts'
import type { Contract } from '../../contract/contract.ts'
import type { CallOrigin } from '../../contract/call.ts'
import { BusbarError } from '../../contract/errors.ts'
import { deferredStream } from '../../contract/host/deferred-stream.ts'
import { serviceUnknown } from '../../contract/host/host.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import { offerMesh, type Transport } from '../../contract/transport.ts'
import { reasonUnreachable } from '../refusals.ts'
import { MeasuredCall, type Meter } from '../meter.ts'
import type { Router } from '../router.ts'
import { currentScope } from '../scope.ts'
import { currentCall } from './contexts.ts'

export interface TypedMesh {
  readonly router: Router
  /** The call that would make more than this in one chain fails with HOP_LIMIT. */
  readonly maxHops: number
  /** `edge`: schemas are not asked for calls of one service to another. */
  readonly validate: 'always' | 'edge'
  /** How long calls take is written down by it; undefined where nobody asks. */
  readonly meter?: Meter | undefined
}

/** Lets `client(contract)` in this thread reach the app's typed services. Disposing takes them away again. */
export function offerTypedCalls(mesh: TypedMesh): Disposable {
  const withdraw = offerMesh({ transport: (service) => new LocalTransport(mesh, service) })
  return { [Symbol.dispose]: withdraw }
}

/** Within one thread a call is a function call: nothing is copied, queued or waited for. */
class LocalTransport implements Transport {
  readonly #mesh: TypedMesh
  readonly #service: string | undefined

  constructor(mesh: TypedMesh, service: string | undefined) {
    this.#mesh = mesh
    this.#service = service
  }

  bind(contract: Contract, name: string, method: { readonly kind: string } | undefined): ReturnType<Transport['bind']> {
    const service = this.#service ?? contract.name
    const { meter } = this.#mesh
    const checked = this.#mesh.validate === 'always'
    const find = this.#finder(service, name)
    if (method?.kind === 'stream')
      return (input, options) => openStream(find, input, this.#origin(service, options), checked)
    return (input, options) => {
      try {
        const origin = this.#origin(service, options)
        const weight = meter?.next() ?? 0
        if (weight === 0) return find().call(input, origin, checked)
        const measured = new MeasuredCall(meter!, origin.caller, service, weight)
        const answer = find().call(input, origin, checked)
        answer.then(measured.end, measured.end)
        return answer
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  async close(): Promise<void> {
    // The services are the app's.
  }

  /** Remembers the instance that answered last: only when there is another one is the method looked up again. */
  #finder(service: string, name: string): () => HostedMethod {
    const { router } = this.#mesh
    let host: unknown
    let hosted: HostedMethod | undefined
    return () => {
      const endpoint = router.find(service)
      if (hosted !== undefined && endpoint?.at === 'here' && endpoint.typed === host) return hosted
      if (endpoint?.at !== 'here') throw notServing(router, service)
      if (endpoint.typed === undefined) throw notTyped(service)
      host = endpoint.typed
      return (hosted = endpoint.typed.method(name))
    }
  }

  /** What a call inherits from the code that makes it. */
  #origin(service: string, options: CallOptions | undefined): CallOrigin {
    const scope = currentScope()
    const hops = (scope?.hops ?? 0) + 1
    if (hops > this.#mesh.maxHops) throw hopLimit(service, this.#mesh.maxHops)
    return {
      parent: currentCall(scope),
      caller: scope?.service,
      hops,
      timeout: options?.timeout,
      signal: options?.signal,
      metadata: options?.metadata,
    }
  }
}

function openStream(
  find: () => HostedMethod,
  input: unknown,
  origin: CallOrigin,
  checked: boolean,
): AsyncIterable<unknown> {
  return deferredStream(async () => {
    const hosted = find()
    return hosted.stream(input, hosted.open(origin), checked)
  })
}

function notServing(router: Router, service: string): BusbarError {
  if (!router.names.includes(service)) return serviceUnknown(service, router.names)
  return new BusbarError('SERVICE_UNAVAILABLE', { message: reasonUnreachable(router, service), service })
}

function notTyped(service: string): BusbarError {
  return new BusbarError('SERVICE_UNKNOWN', {
    message: `service ${service} is a program, which has no methods`,
    hint: `Call it by http://${service}.internal/, or give it a contract.`,
    service,
    data: { nearest: [] },
  })
}

function hopLimit(service: string, maxHops: number): BusbarError {
  return new BusbarError('HOP_LIMIT', {
    message: `the call to service ${service} is number ${maxHops + 1} of a chain in which each caused the next; ${maxHops} are allowed`,
    service,
  })
}
