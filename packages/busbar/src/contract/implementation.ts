// Pages are compiled without Node's types, often for a `lib` that has no `AsyncDisposable`: an unknown name makes `any` of the type.
/// <reference lib="esnext.disposable" preserve="true" />
import type { ClientFunction } from './client.ts'
import type { Contract } from './contract.ts'
import type { Context, Log } from './context.ts'
import { BusbarError } from './errors.ts'
import type { Interceptor, Run } from './host/interceptors.ts'
import { checkMetadata } from './host/metadata.ts'
import type { Handler, Methods } from './method.ts'

/** What an implementation is made with. */
export interface Setup {
  /** How other services are called. */
  readonly client: ClientFunction
  readonly log: Log
  /** The name it has in this app. */
  readonly service: string
}

/** One function per method, and how to end what they use. */
export type Handlers<M extends Methods, Extra> = { readonly [Name in keyof M]: Handler<M[Name], Extra> } & Ending

export interface Ending {
  [Symbol.asyncDispose]?(): PromiseLike<void> | void
  [Symbol.dispose]?(): void
}

/** The functions, or what makes them when the service starts. */
export type Implementing<M extends Methods, Extra> =
  | Handlers<M, Extra>
  | ((setup: Setup) => Handlers<M, Extra> | Promise<Handlers<M, Extra>>)

export const implementationBrand = '~implementation'

/** A service ready to be started: what a typed service's `index.*` exports by default. */
export interface Implementation<M extends Methods = Methods> {
  readonly [implementationBrand]: true
  readonly contract: Contract<M>
  readonly interceptors: readonly Interceptor[]
  create(setup: Setup): Promise<object>
  /** The function of a method. */
  bind(created: object, name: string): Run
  /** Of a plain class or object, whose methods no contract lists: what the instance of this call has by that name. */
  readonly openMethod?: (name: string, context: Context) => OpenMethod
  dispose(created: object): Promise<void>
}

/** `names`: what there is instead. */
export type OpenMethod =
  | { readonly run: (args: unknown) => Promise<unknown> }
  | { readonly run: undefined; readonly names: readonly string[] }

/** By its brand: the service may have a copy of this package of its own. */
export function isImplementation(value: unknown): value is Implementation {
  return typeof value === 'object' && value !== null && (value as Partial<Implementation>)[implementationBrand] === true
}

export function implementContract<M extends Methods, Extra>(
  contract: Contract<M>,
  interceptors: readonly Interceptor[],
  implementing: Implementing<M, Extra>,
): Implementation<M> {
  return {
    [implementationBrand]: true,
    contract,
    interceptors: contract.metadata === undefined ? interceptors : [checkMetadata(contract.metadata), ...interceptors],
    create: async (setup) => {
      const created: unknown = typeof implementing === 'function' ? await implementing(setup) : implementing
      return requireMethods(contract, created)
    },
    // Called as a method of it, for those that use `this`.
    bind: (created, name) => (input, context) => (created as Record<string, Run>)[name]!(input, context),
    dispose: disposeOf,
  }
}

export async function disposeOf(created: object): Promise<void> {
  const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = created as Ending
  if (later !== undefined) await Reflect.apply(later, created, [])
  else if (now !== undefined) Reflect.apply(now, created, [])
}

function requireMethods(contract: Contract, created: unknown): object {
  if (typeof created !== 'object' || created === null)
    throw incomplete(contract, `is ${String(created)}, and no object`)
  const missing = Object.keys(contract.methods).filter(
    (name) => typeof (created as Record<string, unknown>)[name] !== 'function',
  )
  if (missing.length > 0) throw incomplete(contract, `has no ${missing.join(', ')}`)
  return created
}

function incomplete({ name }: Contract, what: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message: `the implementation of ${name} ${what}`,
    hint: 'Give one function for each method of the contract.',
    service: name,
  })
}
