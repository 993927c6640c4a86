import { faultOf } from '../call/call-options.ts'
import type { CallOptions, CallPromise, ErrorOf } from '../call/call-types.ts'
import { isContract, isMethodName, type Contract } from '../contract.ts'
import { BusbarError, type DeclaredErrors } from '../errors.ts'
import type { ClientFunction, ClientInterceptor, ClientOptions, OutgoingCall, Target } from './client-types.ts'
import { deferredStream } from './deferred-stream.ts'
import { isGrpcAddress, lazyGrpcTransport } from './grpc/lazy-transport.ts'
import { httpTransport } from './http/http-transport.ts'
import { isImplementation, type Implementation } from '../implementation.ts'
import { localTransport } from './local-transport.ts'
import { isPlainContract } from '../plain-contract.ts'
import { enqueuer } from '../queues/enqueue.ts'
import { currentMesh, type BoundMethod, type CallTransport } from './transport.ts'

export const client: ClientFunction = (contract: Contract, target?: Target, options: ClientOptions = {}): never => {
  if (!isContract(contract)) throw notAContract()
  const transport = transportTo(target, options)
  return (
    isPlainContract(contract) ? openClient(contract, transport, options) : closedClient(contract, transport, options)
  ) as never
}

export function notAContract(): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message: 'the first argument of client() is not a contract',
    hint: 'Pass the value that service() returned.',
  })
}

function transportTo(target: Target | undefined, options: ClientOptions): CallTransport {
  if (target === undefined) return meshTransport(options.service)
  if (typeof target === 'string' || target instanceof URL)
    return isGrpcAddress(target) ? lazyGrpcTransport(target, options) : httpTransport(target, options)
  if (isImplementation(target)) return localTransport([target], client, options)
  return 'bind' in target ? target : localTransport(target as readonly Implementation[], client, options)
}

/** Looks the mesh up at each call: a module may create its clients before the mesh is ready. */
function meshTransport(service: string | undefined): CallTransport {
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
    enqueue: async (item) => {
      const add = currentMesh()?.enqueue
      if (add === undefined) throw noMesh({ name: item.service })
      return await add(item)
    },
    close: async () => {},
  }
}

function noMesh({ name }: Pick<Contract, 'name'>): BusbarError {
  return new BusbarError('SERVICE_UNAVAILABLE', {
    message: `client(${name}) was called outside an app, where there is no mesh`,
    hint: "Pass the service's address, client(contract, 'http://…'), or its implementation.",
    service: name,
  })
}

/** An object with exactly the contract's methods. Everything else is absent, above all `then`. */
function closedClient(contract: Contract, transport: CallTransport, options: ClientOptions): object {
  const methods = Object.entries(contract.methods).map(([name, method]) => {
    const bound = transport.bind(contract, name, method)
    if (method.kind === 'stream') return [name, streamer(contract, name, bound, options)]
    const call = caller(contract, name, bound, options)
    if (method.queued !== true) return [name, call]
    const site = { service: options.service ?? contract.name, method: name }
    return [name, Object.assign(call, { enqueue: enqueuer(site, method, transport.enqueue) })]
  })
  return disposable(Object.fromEntries(methods) as object, transport)
}

/**
 * For a contract without methods: every valid method name is callable. The input is the list of
 * arguments.
 */
function openClient(contract: Contract, transport: CallTransport, options: ClientOptions): object {
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

/** Not enumerable, so printing or copying a client shows only its methods. */
function disposable(target: object, transport: CallTransport): object {
  return Object.defineProperty(target, Symbol.asyncDispose, { value: () => transport.close() })
}

type Caller = (input?: unknown, options?: CallOptions) => Promise<unknown>

function caller({ name: service }: Contract, method: string, bound: BoundMethod, defaults: ClientOptions): Caller {
  const site = { service: defaults.service ?? service, method }
  const checked: Caller = (input, options) => {
    const fault = options && faultOf(site, options)
    return fault === undefined ? (bound as Caller)(input, options) : Promise.reject(fault)
  }
  const direct = withDefaults(checked, defaults)
  const { use = [] } = defaults
  if (use.length === 0) return direct
  const around = compose(use, direct)
  return (input, options = {}) => around({ service, method, input, options })
}

type Streamer = (input?: unknown, options?: CallOptions) => AsyncIterable<unknown>

function streamer({ name: service }: Contract, method: string, bound: BoundMethod, defaults: ClientOptions): Streamer {
  const site = { service: defaults.service ?? service, method }
  const checked: Streamer = (input, options) => {
    const fault = options && faultOf(site, options)
    return fault === undefined ? (bound as Streamer)(input, options) : deferredStream(() => Promise.reject(fault))
  }
  const direct = withDefaults(checked, defaults)
  const { use = [] } = defaults
  if (use.length === 0) return direct
  const around = compose(use, async (input, options) => direct(input, options))
  return (input, options = {}) =>
    deferredStream(async () => {
      const values = (await around({ service, method, input, options })) as AsyncIterable<unknown>
      return values[Symbol.asyncIterator]()
    })
}

/** Composed once per method, so a call builds no chain. */
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

export type Outcome<T, E extends DeclaredErrors> = readonly [ErrorOf<E>, undefined] | readonly [undefined, T]

/**
 * Resolves to the error or the result, both typed; never rejects: `const [error, product] = await
 * safe(products.product({ id }))`.
 */
export async function safe<T, E extends DeclaredErrors>(call: CallPromise<T, E>): Promise<Outcome<T, E>> {
  try {
    return [undefined, await call]
  } catch (thrown) {
    // Declared codes are not in the error table, so `BusbarError.is` does not know them.
    const isOurs = thrown instanceof Error && thrown.name === 'BusbarError'
    return [(isOurs ? thrown : BusbarError.from(thrown)) as unknown as ErrorOf<E>, undefined]
  }
}
