import type { CallOrigin } from '../../contract/call/live-call.ts'
import type { CallOptions } from '../../contract/call/call-types.ts'
import type { Contract } from '../../contract/contract.ts'
import type { QueueDelivery, Trace } from '../../contract/context.ts'
import { deferredStream } from '../../contract/client/deferred-stream.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import type { HostedMethod } from '../../contract/host/hosted-method.ts'
import type { Method } from '../../contract/method.ts'
import { type BoundMethod, registerMesh, type CallTransport, type MeshHook } from '../../contract/client/transport.ts'
import type { VersionChoice } from '../routing/balance/instance-fit.ts'
import type { Meter } from '../meter.ts'
import {
  type Endpoint,
  type LocalEndpoint,
  type RemoteEndpoint,
  type TcpEndpoint,
  transportTo,
} from '../routing/endpoint.ts'
import type { Router } from '../routing/router.ts'
import { currentScope, type Scope } from '../scope.ts'
import type { SpanKind } from '../../shared/traces/span.ts'
import type { TracedCall } from '../tracing/traced-call.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { currentCall } from './call-contexts.ts'
import { type OtherInstances, RemoteCall } from './remote-call.ts'
import { callOverHttp, type HttpMethodCall } from './call-over-http.ts'
import { hopLimit, notServing, notTyped } from './error-records.ts'
import { MethodEdges, countCall, countStream } from './method-edges.ts'
import { RemoteMethod } from './remote-method.ts'
import { RemoteStream } from './remote-stream.ts'
import { onlyValue, Upload } from './upload.ts'

export interface TypedMesh {
  readonly router: Router
  /** The longest chain of calls that cause each other. The call beyond it fails with HOP_LIMIT. */
  readonly maxHops: number
  /** `edge`: calls between services are not validated. */
  readonly validate: 'always' | 'edge'
  /** Counts and measures calls. Undefined: nothing does. */
  readonly meter?: Meter | undefined
  /** Undefined if the app has no traces. */
  readonly tracer?: Tracer | undefined
}

/**
 * Lets `client(contract)` in this thread reach the app's typed services, and `publisher(contract)`
 * those that subscribe. Disposing undoes it.
 */
export function offerTypedCalls(mesh: TypedMesh, more: Pick<MeshHook, 'publish' | 'enqueue'> = {}): Disposable {
  const withdraw = registerMesh({ transport: (service) => serviceTransport(mesh, service), ...more })
  return { [Symbol.dispose]: withdraw }
}

/** `service`: undefined for that of each contract's name. */
export function serviceTransport(mesh: TypedMesh, service?: string): CallTransport {
  return new MeshTransport(mesh, service)
}

/** Options of a call from outside the app, which the gateway makes, and of one from its queue. */
export interface OutsideOptions extends CallOptions {
  readonly trace?: Trace | undefined
  readonly caller?: string | undefined
  readonly delivery?: QueueDelivery
}

/**
 * Carries calls from outside the app: they have no caller, inherit nothing, and are always
 * validated. `version`: which instances go first.
 */
export function outsideTransport(mesh: TypedMesh, service: string, version?: VersionChoice): CallTransport {
  return new MeshTransport({ ...mesh, validate: 'always' }, service, true, version)
}

/**
 * A call within this thread is a function call: it copies nothing and waits for nothing. Calls to
 * other workers go over links.
 */
class MeshTransport implements CallTransport {
  readonly #mesh: TypedMesh
  readonly #service: string | undefined
  readonly #isOutside: boolean
  readonly #version: VersionChoice | undefined

  constructor(mesh: TypedMesh, service: string | undefined, isOutside = false, version?: VersionChoice) {
    this.#mesh = mesh
    this.#service = service
    this.#isOutside = isOutside
    this.#version = version
  }

  bind(contract: Contract, name: string, method: Method | undefined): BoundMethod {
    const callee = { contract, service: this.#service ?? contract.name, name, method, version: this.#version }
    const bound = new MeshMethod(this.#mesh, callee, this.#isOutside)
    // Opened at once: a call that begins as its worker dies must be on its edge.
    if (method?.kind === 'stream' && this.#isOutside)
      return (input, options) => iterable(bound.stream(input, bound.origin(options)))
    if (method?.kind === 'stream')
      return (input, options) => {
        const origin = bound.origin(options)
        return deferredStream(async () => bound.stream(input, origin))
      }
    return (input, options) => {
      try {
        return bound.call(input, bound.origin(options))
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  async close(): Promise<void> {
    // The app owns the services.
  }
}

interface Callee {
  readonly contract: Contract
  readonly service: string
  readonly name: string
  readonly method: Method | undefined
  readonly version: VersionChoice | undefined
}

/** One method of a service, in this worker or another. */
class MeshMethod implements OtherInstances {
  readonly service: string
  readonly #mesh: TypedMesh
  readonly #contract: Contract
  readonly #name: string
  readonly #method: Method | undefined
  readonly #version: VersionChoice | undefined
  readonly #remote: RemoteMethod
  readonly #checked: boolean
  readonly #isOutside: boolean
  /** The last instance in this thread. The method is looked up again only if it changes. */
  #host: TypedHost | undefined
  #hosted: HostedMethod | undefined
  /** The last port of the service. */
  #port: { readonly endpoint: TcpEndpoint; readonly call: HttpMethodCall } | undefined
  /**
   * Calls without options share an origin while the scope stays the same and they inherit nothing
   * from it (deadline, signal, trace).
   */
  #scope: Scope | undefined
  #origin: CallOrigin | undefined
  readonly #edges: MethodEdges

  constructor(mesh: TypedMesh, { contract, service, name, method, version }: Callee, isOutside: boolean) {
    this.service = service
    this.#mesh = mesh
    this.#contract = contract
    this.#name = name
    this.#method = method
    this.#version = version
    this.#remote = new RemoteMethod(service, name, method, isOutside)
    this.#isOutside = isOutside
    this.#checked = mesh.validate === 'always'
    this.#edges = new MethodEdges(mesh.meter, service, name)
  }

  call(input: unknown, given: CallOrigin): Promise<unknown> {
    // Over a link many inputs are a stream, and `stream` counts it as one call.
    const endpoint = this.#find(input)
    if (endpoint.at === 'link' && this.#method?.takesMany === true) return onlyValue(this.stream(input, given))
    const traced = this.#trace(endpoint, given)
    const edge = traced ?? this.#edges.to(endpoint, given.caller)
    const origin = traced === undefined ? given : { ...given, trace: traced }
    if (endpoint.at === 'here') return this.#local(endpoint).call(input, origin, this.#checked, edge)
    if (endpoint.at === 'tcp')
      return countCall(() => this.#http(endpoint)(input, origin) as Promise<unknown>, edge, endpoint)
    return new RemoteCall({ method: this.#remote, origin, value: input, endpoint, others: this, edge }).answer
  }

  stream(input: unknown, given: CallOrigin): AsyncIterator<unknown> {
    const endpoint = this.#find(input)
    const traced = this.#trace(endpoint, given)
    const edge = traced ?? this.#edges.to(endpoint, given.caller)
    const origin = traced === undefined ? given : { ...given, trace: traced }
    if (endpoint.at === 'here') {
      const hosted = this.#local(endpoint)
      return hosted.stream(input, hosted.open(origin), this.#checked, edge)
    }
    if (endpoint.at === 'tcp') {
      const values = this.#http(endpoint)(input, origin) as AsyncIterable<unknown>
      return countStream(values[Symbol.asyncIterator](), edge, endpoint)
    }
    const findOther = (not: RemoteEndpoint): RemoteEndpoint | undefined => {
      const next = this.#other(not, input)
      return next?.at === 'link' ? next : undefined
    }
    const findFitting = (not: RemoteEndpoint): RemoteEndpoint | undefined => this.findFitting(not, input)
    const others = { findOther, findFitting, key: () => this.keyOf(input) }
    const upload = this.#method?.takesMany === true ? new Upload(this.#remote, input) : undefined
    const encoded = this.#remote.encodeValue(upload === undefined ? input : undefined)
    return new RemoteStream({ method: this.#remote, origin, input: encoded, upload, endpoint, others, edge })
  }

  /** Undefined if the app has no traces. */
  #trace(endpoint: Endpoint, { caller, trace, parent }: CallOrigin): TracedCall | undefined {
    const { tracer } = this.#mesh
    if (tracer === undefined) return undefined
    const edge = this.#edges.to(endpoint, caller)
    const kind = edge?.spans ?? this.#spansTo(endpoint, caller)
    return tracer.call(kind, undefined, trace ?? parent?.cause, edge)
  }

  #spansTo(endpoint: Endpoint, caller: string | undefined): SpanKind {
    const { service } = this
    return { part: 'call', caller, service, protocol: 'rpc', method: this.#name, transport: transportTo(endpoint) }
  }

  findOther(not: RemoteEndpoint, input: unknown, origin: CallOrigin): ReturnType<OtherInstances['findOther']> {
    const next = this.#other(not, input)
    return next?.at === 'here' ? this.#local(next).call(input, origin, this.#checked) : next
  }

  findFitting(not: RemoteEndpoint, input: unknown): RemoteEndpoint | undefined {
    const next = this.#mesh.router.find(this.service, { not, contract: this.#remote.needed, key: this.keyOf(input) })
    return next?.at === 'link' && isTyped(next) ? next : undefined
  }

  /** What a call inherits from the running code. */
  origin(options: CallOptions | undefined): CallOrigin {
    if (this.#isOutside) return { ...options, hops: 1 }
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
      ...(scope?.trace !== undefined && { trace: scope.trace }),
    }
  }

  /** Throws the caller's error if no instance serves. */
  #find(input: unknown): Endpoint {
    const { router } = this.#mesh
    const version = this.#version
    const options = version === undefined ? this.#method?.key && { key: this.keyOf(input) } : { version }
    let endpoint = router.find(this.service, options)
    if (endpoint?.at === 'link' && endpoint.rejects?.(this.#remote.needed) === true)
      endpoint = this.findFitting(endpoint, input) ?? endpoint
    if (endpoint === undefined) throw notServing(router, this.service)
    if (!isTyped(endpoint)) throw notTyped(this.service)
    return endpoint
  }

  #other(not: RemoteEndpoint, input: unknown): LocalEndpoint | RemoteEndpoint | undefined {
    const next = this.#mesh.router.find(this.service, { not, key: this.keyOf(input), version: this.#version })
    return next !== undefined && next.at !== 'tcp' && isTyped(next) ? next : undefined
  }

  /** Binds once, because a service keeps its port while it runs. */
  #http(endpoint: TcpEndpoint): HttpMethodCall {
    if (this.#port?.endpoint !== endpoint)
      this.#port = { endpoint, call: callOverHttp(endpoint, this.#contract, this.#name, this.#method) }
    return this.#port.call
  }

  #local({ typed }: LocalEndpoint): HostedMethod {
    if (this.#hosted !== undefined && this.#host === typed) return this.#hosted
    this.#host = typed
    return (this.#hosted = typed!.method(this.#name))
  }

  /** Undefined if the input has no key: its schema then rejects it. */
  keyOf(input: unknown): string | undefined {
    try {
      const key = this.#method?.key?.(input as never)
      return key === undefined ? undefined : String(key)
    } catch {
      return undefined
    }
  }
}

function iterable(values: AsyncIterator<unknown>): AsyncIterable<unknown> {
  return { [Symbol.asyncIterator]: () => values }
}

function isTyped({ typed }: Endpoint): boolean {
  return typed !== undefined && typed !== false
}
