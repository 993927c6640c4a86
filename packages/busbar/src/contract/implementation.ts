// Browser code is often compiled with a `lib` without `AsyncDisposable`, where an unknown name
// would make the type `any`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { ClientFunction } from './client/client-types.ts'
import { implementationBrand, type Contract } from './contract.ts'
import type { Context, Log } from './context.ts'
import { BusbarError } from './errors.ts'
import type { PublisherFunction } from './events/publisher.ts'
import type { EventHandlers, Subscription, Subscriptions } from './events/subscription.ts'
import { type Interceptor, type Run, checkMetadata } from './host/interceptors.ts'
import type { Handler, Methods } from './method.ts'

/** What an implementation is created with. */
export interface Setup {
  /** Calls other services. */
  readonly client: ClientFunction
  /** Publishes events of a contract's topics. */
  readonly publisher: PublisherFunction
  readonly log: Log
  /** The service's name in this app. */
  readonly service: string
}

/** One function per method, and optionally how to dispose what they use. */
export type Handlers<M extends Methods, Extra> = { readonly [Name in keyof M]: Handler<M[Name], Extra> } & Disposer

export interface Disposer {
  [Symbol.asyncDispose]?(): PromiseLike<void> | void
  [Symbol.dispose]?(): void
}

/** The functions, or a function that creates them when the service starts. */
export type ImplementationSource<M extends Methods, Extra, S extends Subscriptions = {}> =
  | (Handlers<M, Extra> & EventHandlers<S>)
  | ((setup: Setup) => (Handlers<M, Extra> & EventHandlers<S>) | Promise<Handlers<M, Extra> & EventHandlers<S>>)

/** A service ready to be started: the default export of a typed service's `index.*`. */
export interface Implementation<M extends Methods = Methods> {
  readonly [implementationBrand]: true
  readonly contract: Contract<M>
  readonly interceptors: readonly Interceptor[]
  /** Default: none. */
  readonly subscriptions?: readonly Subscription[]
  create(setup: Setup): Promise<object>
  /** The function of a method, or of a subscription. */
  bind(created: object, name: string): Run
  /**
   * For a plain class or object, whose methods no contract lists: looks `name` up in the instance
   * created for this call.
   */
  readonly openMethod?: (name: string, context: Context) => OpenMethod
  dispose(created: object): Promise<void>
}

/** `names`: the methods that exist, for the error. */
export type OpenMethod =
  | { readonly run: (args: unknown) => Promise<unknown> }
  | { readonly run: undefined; readonly names: readonly string[] }

/** Checks the brand, since the service may have its own copy of this package. */
export function isImplementation(value: unknown): value is Implementation {
  return typeof value === 'object' && value !== null && (value as Partial<Implementation>)[implementationBrand] === true
}

export function implementContract<M extends Methods, Extra, S extends Subscriptions>(
  contract: Contract<M>,
  interceptors: readonly Interceptor[],
  subscriptions: readonly Subscription[],
  implementing: ImplementationSource<M, Extra, S>,
): Implementation<M> {
  const names = [...Object.keys(contract.methods), ...subscriptions.map(({ handler }) => handler)]
  return {
    [implementationBrand]: true,
    contract,
    subscriptions,
    interceptors: contract.metadata === undefined ? interceptors : [checkMetadata(contract.metadata), ...interceptors],
    create: async (setup) => {
      const created: unknown = typeof implementing === 'function' ? await implementing(setup) : implementing
      return requireFunctions(contract, names, created)
    },
    // Called as a method of the object, for functions that use `this`.
    bind: (created, name) => (input, context) => (created as Record<string, Run>)[name]!(input, context),
    dispose: disposeCreated,
  }
}

export async function disposeCreated(created: object): Promise<void> {
  const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = created as Disposer
  if (later !== undefined) await Reflect.apply(later, created, [])
  else if (now !== undefined) Reflect.apply(now, created, [])
}

function requireFunctions(contract: Contract, names: readonly string[], created: unknown): object {
  if (typeof created !== 'object' || created === null)
    throw incomplete(contract, `is ${String(created)}, not an object`)
  const missing = names.filter((name) => typeof (created as Record<string, unknown>)[name] !== 'function')
  if (missing.length > 0) throw incomplete(contract, `has no ${missing.join(', ')}`)
  return created
}

function incomplete({ name }: Contract, what: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message: `the implementation of ${name} ${what}`,
    hint: 'Provide one function for each method of the contract, and for each topic that it subscribes to.',
    service: name,
  })
}
