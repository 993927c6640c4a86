// Pages are compiled without Node's types, often for a `lib` that has no `AsyncDisposable`: an unknown name makes `any` of the type.
/// <reference lib="esnext.disposable" preserve="true" />
import { faultOf } from './call-options.ts'
import type { CallOptions } from './calls.ts'
import { isContract, isMethodName, type Contract } from './contract.ts'
import { BusbarError } from './errors.ts'
import { deferredStream } from './host/deferred-stream.ts'
import { httpTransport, type HttpOptions } from './http/client.ts'
import { isImplementation, type Implementation } from './implementation.ts'
import { localTransport, type LocalOptions } from './local.ts'
import type { Call, Methods, TypesOf } from './method.ts'
import { isPlain, type PlainClient, type PlainContract } from './plain.ts'
import { currentMesh, type BoundMethod, type Transport } from './transport.ts'

/** The methods of a service as functions. It is no promise: `await client(x)` is the client itself. */
export type Client<M extends Methods> = {
  readonly [Name in keyof M]: Call<M[Name]['kind'], TypesOf<M[Name]>>
} & AsyncDisposable

export interface ClientOptions extends HttpOptions, LocalOptions {
  /** Milliseconds for calls that say nothing themselves. Default: no limit but that of the call that causes them. */
  readonly timeout?: number
  /** For every call; a call's own words come over them. */
  readonly metadata?: CallOptions['metadata']
  /** The name in the config, where it is not the contract's. */
  readonly service?: string
  /** Stand around every call, the first one outermost: before it, after it, instead of it. */
  readonly use?: readonly ClientInterceptor[]
}

export interface OutgoingCall {
  readonly service: string
  readonly method: string
  readonly input: unknown
  readonly options: CallOptions
}

/**
 * `next` makes the call, with other options where it is given some, and resolves to the result; of a stream, to its values
 * as an async iterable, which is asked for when the stream is first read.
 */
export type ClientInterceptor = (
  call: OutgoingCall,
  next: (options?: CallOptions) => Promise<unknown>,
) => Promise<unknown>

/** Where a service is: `https://…`, or its implementation (and those that it calls), or nothing inside an app. */
export type Target = string | URL | Implementation | readonly Implementation[] | Transport

export interface ClientFunction {
  /** A plain class's client: its methods take what the class's own take. */
  <T extends object>(
    contract: PlainContract<T>,
    target?: Target,
    options?: ClientOptions,
  ): PlainClient<T> & AsyncDisposable
  /**
   * - `client(contract)` inside an app: by the mesh
   * - `client(contract, 'https://shop.example/api')`: over HTTP, from anywhere
   * - `client(contract, implementation)`: in this very thread, for tests and for browsers
   *
   * Methods reject with a BusbarError. Disposing it stops what it started itself.
   */
  <M extends Methods>(contract: Contract<M>, target?: Target, options?: ClientOptions): Client<M>
}

export const client: ClientFunction = (contract: Contract, target?: Target, options: ClientOptions = {}): never => {
  if (!isContract(contract))
    throw new BusbarError('CONTRACT_INVALID', {
      message: 'client() was given something else than a contract',
      hint: 'The first argument is what service() returned.',
    })
  const transport = transportTo(target, options)
  return (
    isPlain(contract) ? openClient(contract, transport, options) : closedClient(contract, transport, options)
  ) as never
}

function transportTo(target: Target | undefined, options: ClientOptions): Transport {
  if (target === undefined) return meshTransport(options.service)
  if (typeof target === 'string' || target instanceof URL) return httpTransport(target, options)
  if (isImplementation(target)) return localTransport([target], client, options)
  return 'bind' in target ? target : localTransport(target, client, options)
}

/** Looked up when it is called: a module may make its clients before the mesh stands. */
function meshTransport(service: string | undefined): Transport {
  return {
    bind(contract, name, method) {
      let mesh = currentMesh()
      let bound: BoundMethod | undefined
      return (input, options) => {
        const current = currentMesh()
        if (bound === undefined || current !== mesh)
          bound = (mesh = current)?.transport(service).bind(contract, name, method)
        if (bound !== undefined) return bound(input, options)
        throw noMesh(contract)
      }
    },
    close: async () => {},
  }
}

function noMesh({ name }: Contract): BusbarError {
  return new BusbarError('SERVICE_UNAVAILABLE', {
    message: `client(${name}) was called outside of an app, where there is no mesh`,
    hint: "Outside of an app say where the service is: client(contract, 'http://…'), or give its implementation.",
    service: name,
  })
}

/** An object with exactly the contract's methods: whatever else is asked of it, `then` above all, is not there. */
function closedClient(contract: Contract, transport: Transport, options: ClientOptions): object {
  const methods = Object.entries(contract.methods).map(([name, method]) => {
    const bound = transport.bind(contract, name, method)
    return [
      name,
      method.kind === 'fn' ? caller(contract, name, bound, options) : streamer(contract, name, bound, options),
    ]
  })
  return disposable(Object.fromEntries(methods) as object, transport)
}

/** Where no contract lists the methods, every name that could be one is. The input is the list of arguments. */
function openClient(contract: Contract, transport: Transport, options: ClientOptions): object {
  const known = new Map<string, unknown>()
  return new Proxy(disposable({}, transport), {
    get(target, name) {
      if (typeof name === 'symbol') return Reflect.get(target, name) as unknown
      if (!isMethodName(name)) return undefined
      let method = known.get(name)
      if (method === undefined) {
        const call = caller(contract, name, transport.bind(contract, name, undefined), options)
        known.set(name, (method = (...args: unknown[]) => call(args)))
      }
      return method
    },
  })
}

/** Not enumerable: a client that is printed or copied is its methods. */
function disposable(target: object, transport: Transport): object {
  return Object.defineProperty(target, Symbol.asyncDispose, { value: () => transport.close() })
}

type Caller = (input?: unknown, options?: CallOptions) => Promise<unknown>

function caller({ name: service }: Contract, method: string, bound: BoundMethod, defaults: ClientOptions): Caller {
  const site = { service: defaults.service ?? service, method }
  const checked: Caller = (input, options) => {
    const fault = options && faultOf(site, options)
    return fault === undefined ? (bound as Caller)(input, options) : Promise.reject(fault)
  }
  const plain = withDefaults(checked, defaults)
  const { use = [] } = defaults
  if (use.length === 0) return plain
  const around = compose(use, plain)
  return (input, options = {}) => around({ service, method, input, options })
}

type Streamer = (input?: unknown, options?: CallOptions) => AsyncIterable<unknown>

function streamer({ name: service }: Contract, method: string, bound: BoundMethod, defaults: ClientOptions): Streamer {
  const site = { service: defaults.service ?? service, method }
  const checked: Streamer = (input, options) => {
    const fault = options && faultOf(site, options)
    return fault === undefined ? (bound as Streamer)(input, options) : deferredStream(() => Promise.reject(fault))
  }
  const plain = withDefaults(checked, defaults)
  const { use = [] } = defaults
  if (use.length === 0) return plain
  const around = compose(use, async (input, options) => plain(input, options))
  return (input, options = {}) =>
    deferredStream(async () => {
      const values = (await around({ service, method, input, options })) as AsyncIterable<unknown>
      return values[Symbol.asyncIterator]()
    })
}

/** Once per method, so that a call makes no chain. */
function compose(use: readonly ClientInterceptor[], call: Caller): (call: OutgoingCall) => Promise<unknown> {
  return use.reduceRight<(call: OutgoingCall) => Promise<unknown>>(
    (inner, interceptor) => (outgoing) =>
      interceptor(outgoing, (options) => inner(options === undefined ? outgoing : { ...outgoing, options })),
    ({ input, options }) => call(input, options),
  )
}

function withDefaults<Answer>(
  bound: (input?: unknown, options?: CallOptions) => Answer,
  { timeout, metadata }: ClientOptions,
): (input?: unknown, options?: CallOptions) => Answer {
  if (timeout === undefined && metadata === undefined) return bound
  return (input, options) =>
    bound(input, {
      ...options,
      timeout: options?.timeout ?? timeout,
      metadata: { ...metadata, ...options?.metadata },
    })
}
