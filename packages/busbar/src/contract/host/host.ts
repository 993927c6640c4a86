import type { Enter, LiveCall } from '../call.ts'
import type { Log } from '../context.ts'
import { BusbarError } from '../errors.ts'
import type { ClientFunction } from '../client.ts'
import { isMethodName } from '../contract.ts'
import type { Implementation } from '../implementation.ts'
import { anyMethod } from '../plain.ts'
import type { Interceptor, Run } from './interceptors.ts'
import { HostedMethod, type Around } from './hosted-method.ts'
import { inputInvalid } from './failures.ts'
import { MethodMissing, methodUnknown } from './unknown.ts'

export interface HostOptions {
  /** The address it is called by: the contract's name, unless the config says otherwise. */
  readonly name: string
  readonly log: Log
  /** Whether arguments and results are copied, so that it shows who changes what is not his. */
  readonly clone: boolean
  /** Calls that may be in flight; more are refused with RESOURCE_EXHAUSTED. */
  readonly maxInFlight: number
  /** Where its calls are counted, if anywhere. */
  readonly count?: CallCount | undefined
  /** Stand around its own, outside of them: those of the app. */
  readonly interceptors?: readonly Interceptor[]
  /** How the implementation calls other services. */
  readonly client: ClientFunction
  /** Runs the service's code in a context of its own, with nothing of the caller's. */
  readonly enter?: Enter
}

/** Told of every call that an instance answers. */
export interface CallCount {
  began(): void
  /** `failed`: it got no answer, or one that says the fault is the service's (a status of 500 or more). */
  left(failed: boolean): void
}

export const defaultMaxInFlight = 10_000

/** A typed service in this thread. */
export interface TypedHost {
  readonly name: string
  readonly contract: Implementation['contract']
  /** Throws METHOD_UNKNOWN with the nearest names. */
  method(name: string): HostedMethod
  readonly inFlight: number
  /**
   * Takes no new calls, waits until those in flight are answered, aborts the rest after `timeout` milliseconds, and
   * disposes the implementation. Rejects with what its disposal threw.
   */
  stop(timeout: number): Promise<void>
}

/** Makes the implementation. Rejects with what that throws, or with CONTRACT_INVALID where it lacks a method. */
export async function startHost(implementation: Implementation, options: HostOptions): Promise<TypedHost> {
  const setup = { client: options.client, log: options.log, service: options.name }
  return new Host(implementation, await implementation.create(setup), options)
}

class Host implements TypedHost, Around {
  readonly name: string
  readonly service: string
  readonly contract: Implementation['contract']
  readonly options: HostOptions
  readonly interceptors: Implementation['interceptors']
  readonly endable = new Set<LiveCall>()
  inFlight = 0
  readonly #created: object
  readonly #implementation: Implementation
  readonly #count: CallCount | undefined
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
  }

  method(name: string): HostedMethod {
    const method = this.#methods.get(name) ?? this.#open(name)
    if (method !== undefined) return method
    throw methodUnknown(this.name, name, [...this.#methods.keys()])
  }

  refusal(): BusbarError | undefined {
    if (this.#state !== 'serving') return stopping(this.name)
    return this.inFlight < this.options.maxInFlight ? undefined : exhausted(this.name, this.inFlight)
  }

  began(): void {
    this.inFlight++
    this.#count?.began()
  }

  left(failed: boolean): void {
    this.#count?.left(failed)
    if (--this.inFlight === 0) this.#idle?.()
  }

  stop(timeout: number): Promise<void> {
    return (this.#stopped ??= this.#stop(timeout))
  }

  /** Of a plain class or object: what it has is only known by the instance that a call gets. Kept once there was such a method. */
  #open(name: string): HostedMethod | undefined {
    const { openMethod } = this.#implementation
    if (openMethod === undefined || !isMethodName(name)) return undefined
    const run: Run = (args, context) => {
      const found = openMethod(name, context)
      if (found.run === undefined) throw new MethodMissing(found.names)
      this.#methods.set(name, method)
      if (!Array.isArray(args)) throw inputInvalid(method.site, [{ path: [], message: 'it is no list of arguments' }])
      return found.run(args)
    }
    const method = new HostedMethod(name, anyMethod, run, this)
    return method
  }

  async #stop(timeout: number): Promise<void> {
    this.#state = 'draining'
    if (this.inFlight > 0) await this.#untilIdle(timeout)
    for (const call of this.endable) call.end(stopping(this.name))
    this.#state = 'stopped'
    await this.#implementation.dispose(this.#created)
  }

  async #untilIdle(timeout: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout)
    this.#idle = resolve
    await promise
    clearTimeout(timer)
  }
}

function stopping(service: string): BusbarError {
  return new BusbarError('SERVICE_UNAVAILABLE', { message: `service ${service} is stopping`, service })
}

function exhausted(service: string, inFlight: number): BusbarError {
  return new BusbarError('RESOURCE_EXHAUSTED', {
    message: `service ${service} has ${inFlight} calls in flight and takes no more`,
    service,
    data: { retryAfter: 1 },
  })
}
