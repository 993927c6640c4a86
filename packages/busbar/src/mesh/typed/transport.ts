import type { CallOrigin } from '../../contract/call.ts'
import type { CallOptions } from '../../contract/calls.ts'
import type { Contract } from '../../contract/contract.ts'
import { BusbarError } from '../../contract/errors.ts'
import { deferredStream } from '../../contract/host/deferred-stream.ts'
import type { TypedHost } from '../../contract/host/host.ts'
import { serviceUnknown } from '../../contract/host/unknown.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { Method } from '../../contract/method.ts'
import { type BoundMethod, offerMesh, type Transport } from '../../contract/transport.ts'
import type { Endpoint, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from '../endpoint.ts'
import { MeasuredCall, type Meter } from '../meter.ts'
import { reasonUnreachable } from '../refusals.ts'
import type { Router } from '../router.ts'
import { currentScope, type Scope } from '../scope.ts'
import { currentCall } from './contexts.ts'
import { type Elsewhere, RemoteCall } from './remote-call.ts'
import { callOverHttp, type OverHttp } from './over-http.ts'
import { RemoteMethod } from './remote-method.ts'
import { RemoteStream } from './remote-stream.ts'

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
  const withdraw = offerMesh({ transport: (service) => new MeshTransport(mesh, service) })
  return { [Symbol.dispose]: withdraw }
}

/**
 * Within one thread a call is a function call: nothing is copied, queued or waited for. To other workers it goes by their
 * link.
 */
class MeshTransport implements Transport {
  readonly #mesh: TypedMesh
  readonly #service: string | undefined

  constructor(mesh: TypedMesh, service: string | undefined) {
    this.#mesh = mesh
    this.#service = service
  }

  bind(contract: Contract, name: string, method: Method | undefined): BoundMethod {
    const bound = new MeshMethod(this.#mesh, contract, this.#service ?? contract.name, name, method)
    if (method?.kind === 'stream')
      return (input, options) => {
        const origin = bound.origin(options)
        return deferredStream(async () => bound.stream(input, origin))
      }
    const { meter } = this.#mesh
    return (input, options) => {
      try {
        const origin = bound.origin(options)
        const weight = meter?.next() ?? 0
        if (weight === 0) return bound.call(input, origin)
        const measured = new MeasuredCall(meter!, origin.caller, bound.service, weight)
        const answer = bound.call(input, origin)
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
}

/** One method of a service, wherever that is at the moment. */
class MeshMethod implements Elsewhere {
  readonly service: string
  readonly #mesh: TypedMesh
  readonly #contract: Contract
  readonly #name: string
  readonly #method: Method | undefined
  readonly #remote: RemoteMethod
  readonly #checked: boolean
  /** The instance in this thread that answered last: only when there is another one is the method looked up again. */
  #host: TypedHost | undefined
  #hosted: HostedMethod | undefined
  /** The port that it was called at last. */
  #port: { readonly endpoint: TcpEndpoint; readonly call: OverHttp } | undefined
  /** Code that has nothing to hand on shares its scope, and all its calls that say nothing themselves come from the same. */
  #scope: Scope | undefined
  #origin: CallOrigin | undefined

  constructor(mesh: TypedMesh, contract: Contract, service: string, name: string, method: Method | undefined) {
    this.service = service
    this.#mesh = mesh
    this.#contract = contract
    this.#name = name
    this.#method = method
    this.#remote = new RemoteMethod(service, name, method)
    this.#checked = mesh.validate === 'always'
  }

  call(input: unknown, origin: CallOrigin): Promise<unknown> {
    const endpoint = this.#find(input)
    if (endpoint.at === 'here') return this.#local(endpoint).call(input, origin, this.#checked)
    if (endpoint.at === 'tcp') return this.#http(endpoint)(input, origin) as Promise<unknown>
    return new RemoteCall(this.#remote, origin, input, endpoint, this).answer
  }

  stream(input: unknown, origin: CallOrigin): AsyncIterator<unknown> {
    const endpoint = this.#find(input)
    if (endpoint.at === 'here') {
      const hosted = this.#local(endpoint)
      return hosted.stream(input, hosted.open(origin), this.#checked)
    }
    if (endpoint.at === 'tcp') {
      const values = this.#http(endpoint)(input, origin) as AsyncIterable<unknown>
      return values[Symbol.asyncIterator]()
    }
    const another = (not: RemoteEndpoint): RemoteEndpoint | undefined => {
      const next = this.#other(not, input)
      return next?.at === 'link' ? next : undefined
    }
    return new RemoteStream(this.#remote, origin, this.#remote.carry(input), endpoint, another)
  }

  elsewhere(not: RemoteEndpoint, input: unknown, origin: CallOrigin): ReturnType<Elsewhere['elsewhere']> {
    const next = this.#other(not, input)
    return next?.at === 'here' ? this.#local(next).call(input, origin, this.#checked) : next
  }

  /** What a call inherits from the code that makes it. */
  origin(options: CallOptions | undefined): CallOrigin {
    const scope = currentScope()
    if (options === undefined && scope !== undefined && scope === this.#scope) return this.#origin!
    const origin = this.#originFrom(scope, options)
    if (options === undefined && origin.parent === undefined) {
      this.#scope = scope
      this.#origin = origin
    }
    return origin
  }

  #originFrom(scope: Scope | undefined, options: CallOptions | undefined): CallOrigin {
    const hops = (scope?.hops ?? 0) + 1
    if (hops > this.#mesh.maxHops) throw hopLimit(this.service, this.#mesh.maxHops)
    return {
      parent: currentCall(scope),
      caller: scope?.service,
      hops,
      timeout: options?.timeout,
      signal: options?.signal,
      priority: options?.priority,
      metadata: options?.metadata,
    }
  }

  /** Throws what the caller is told when there is none. */
  #find(input: unknown): Endpoint {
    const { router } = this.#mesh
    const endpoint = router.find(this.service, this.#method?.key && { key: this.#keyOf(input) })
    if (endpoint === undefined) throw notServing(router, this.service)
    if (!isTyped(endpoint)) throw notTyped(this.service)
    return endpoint
  }

  #other(not: RemoteEndpoint, input: unknown): LocalEndpoint | RemoteEndpoint | undefined {
    const next = this.#mesh.router.find(this.service, { not, key: this.#keyOf(input) })
    return next !== undefined && next.at !== 'tcp' && isTyped(next) ? next : undefined
  }

  /** Bound once: a service has one port for as long as it runs. */
  #http(endpoint: TcpEndpoint): OverHttp {
    if (this.#port?.endpoint !== endpoint)
      this.#port = { endpoint, call: callOverHttp(endpoint, this.#contract, this.#name, this.#method) }
    return this.#port.call
  }

  #local({ typed }: LocalEndpoint): HostedMethod {
    if (this.#hosted !== undefined && this.#host === typed) return this.#hosted
    this.#host = typed
    return (this.#hosted = typed!.method(this.#name))
  }

  /** An input that has no key is for its schema to refuse, wherever that is asked. */
  #keyOf(input: unknown): string | undefined {
    try {
      const key = this.#method?.key?.(input as never)
      return key === undefined ? undefined : String(key)
    } catch {
      return undefined
    }
  }
}

function isTyped({ typed }: Endpoint): boolean {
  return typed !== undefined && typed !== false
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
