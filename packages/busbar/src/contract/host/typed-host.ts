import type { CallEdge } from '../call/call-edge.ts'
import type { LiveCall } from '../call/live-call.ts'
import { BusbarError } from '../errors.ts'
import { publisher, type PublisherFunction } from '../events/publisher.ts'
import type { ClientFunction } from '../client/client-types.ts'
import { isMethodName } from '../contract.ts'
import type { Implementation } from '../implementation.ts'
import { untypedMethod } from '../plain-contract.ts'
import type { Interceptor, Run } from './interceptors.ts'
import { type EventAdmission, type EventCounter, EventInbox } from './event-inbox.ts'
import { HostedMethod } from './hosted-method.ts'
import type { CallTimer, HostedOptions, HostingService } from './hosting-service.ts'
import { inputInvalid } from './failures.ts'
import { MethodNotFound, methodUnknown } from './unknown-names.ts'

export interface HostOptions extends HostedOptions {
  /** The service's address: the contract's name, unless the config names it otherwise. */
  readonly name: string
  /** Maximum number of calls in flight; more fail with RESOURCE_EXHAUSTED. */
  readonly maxInFlight: number
  /** Counts its calls. */
  readonly count?: (CallCounter & EventCounter) | undefined
  /** Default: handlers of events have only the limits of their subscriptions. */
  readonly admission?: EventAdmission | undefined
  /** Interceptors of the app, outside the implementation's own. */
  readonly interceptors?: readonly Interceptor[]
  /** The client for calls that the implementation makes. */
  readonly client: ClientFunction
  /** Publishes the events of the implementation. Default: through the mesh. */
  readonly publisher?: PublisherFunction
}

/** Counts every call that an instance answers. */
export interface CallCounter {
  /** Returns the timer of a call that is measured. */
  countStart(): CallTimer | undefined
  /** `failed`: there was no answer, or its status was 500 or higher. */
  countEnd(failed: boolean): void
}

export const defaultMaxInFlight = 10_000

/** A typed service running in this thread. */
export interface TypedHost {
  readonly name: string
  readonly contract: Implementation['contract']
  /** Throws METHOD_UNKNOWN with the nearest names. */
  method(name: string): HostedMethod
  /** Undefined if it subscribes to nothing. */
  readonly events: EventInbox | undefined
  readonly inFlight: number
  /**
   * Refuses new calls and events, waits for those that were accepted, cancels the rest after
   * `timeout` milliseconds, and disposes the implementation. Rejects with what the disposal threw.
   */
  stop(timeout: number): Promise<void>
}

/**
 * Creates the implementation and hosts it. Rejects with what that throws, or with CONTRACT_INVALID
 * if a method is missing.
 */
export async function startHost(implementation: Implementation, options: HostOptions): Promise<TypedHost> {
  const { client, log, name: service, publisher: own = publisher } = options
  const setup = { client, log, service, publisher: own }
  return new Host(implementation, await implementation.create(setup), options)
}

class Host implements TypedHost, HostingService {
  readonly name: string
  readonly service: string
  readonly contract: Implementation['contract']
  readonly options: HostOptions
  readonly interceptors: Implementation['interceptors']
  readonly cancellable = new Set<LiveCall>()
  inFlight = 0
  readonly events: EventInbox | undefined
  readonly #created: object
  readonly #implementation: Implementation
  readonly #count: CallCounter | undefined
  readonly #methods = new Map<string, HostedMethod>()
  #state: 'serving' | 'draining' | 'stopped' = 'serving'
  #idle: (() => void) | undefined
  #stopped: Promise<void> | undefined

  constructor(implementation: Implementation, created: object, options: HostOptions) {
    this.name = this.service = options.name
    this.contract = implementation.contract
    this.interceptors = [...(options.interceptors ?? []), ...implementation.interceptors]
    this.options = options
    this.#count = options.count
    this.#implementation = implementation
    this.#created = created
    for (const [name, spec] of Object.entries(implementation.contract.methods))
      this.#methods.set(name, new HostedMethod(name, spec, implementation.bind(created, name), this))
    const { subscriptions = [] } = implementation
    if (subscriptions.length === 0) return
    const bind = (handler: string): Run => implementation.bind(created, handler)
    const { count, admission } = options
    this.events = new EventInbox({ subscriptions, bind, host: this, count, admission })
  }

  method(name: string): HostedMethod {
    const method = this.#methods.get(name) ?? this.#open(name)
    if (method !== undefined) return method
    throw methodUnknown(this.name, name, [...this.#methods.keys()])
  }

  refusal(edge: CallEdge | undefined): BusbarError | undefined {
    if (this.#state === 'serving' && this.inFlight < this.options.maxInFlight) return undefined
    const refusal = this.#state === 'serving' ? exhausted(this.name, this.inFlight) : stopping(this.name)
    edge?.end(refusal.status, edge.begin())
    return refusal
  }

  countStart(): CallTimer | undefined {
    this.inFlight++
    return this.#count?.countStart()
  }

  countEnd(failed: boolean): void {
    this.#count?.countEnd(failed)
    if (--this.inFlight === 0) this.#idle?.()
  }

  stop(timeout: number): Promise<void> {
    return (this.#stopped ??= this.#stop(timeout))
  }

  /**
   * For a plain class or object, only the instance created for a call knows its methods. A method
   * is kept once a call has found it.
   */
  #open(name: string): HostedMethod | undefined {
    const { openMethod } = this.#implementation
    if (openMethod === undefined || !isMethodName(name)) return undefined
    const run: Run = (args, context) => {
      const found = openMethod(name, context)
      if (found.run === undefined) throw new MethodNotFound(found.names)
      this.#methods.set(name, method)
      if (!Array.isArray(args))
        throw inputInvalid(method.site, [{ path: [], message: 'it is not a list of arguments' }])
      return found.run(args)
    }
    const method = new HostedMethod(name, untypedMethod, run, this)
    return method
  }

  async #stop(timeout: number): Promise<void> {
    this.#state = 'draining'
    await this.#untilIdle(timeout)
    const lost = this.events?.discard() ?? 0
    if (lost > 0) this.options.log.warn(`${lost} accepted events were not handled before the stop's time was over`)
    for (const call of this.cancellable) call.end(stopping(this.name))
    this.#state = 'stopped'
    await this.#implementation.dispose(this.#created)
  }

  async #untilIdle(timeout: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout)
    const calls = new Promise<void>((ended) => (this.inFlight > 0 ? (this.#idle = ended) : ended()))
    void Promise.all([calls, this.events?.drain()]).then(() => resolve())
    await promise
    clearTimeout(timer)
  }
}

function stopping(service: string): BusbarError {
  return new BusbarError('SERVICE_UNAVAILABLE', { message: `service '${service}' is stopping`, service })
}

function exhausted(service: string, inFlight: number): BusbarError {
  return new BusbarError('RESOURCE_EXHAUSTED', {
    message: `service '${service}' has ${inFlight} calls in flight, its limit`,
    service,
    data: { retryAfter: 1 },
  })
}
