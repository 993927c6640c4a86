import type { Context } from './context.ts'
import type { Interceptor } from './host/interceptors.ts'
import { implementationBrand, type Implementation } from './implementation.ts'
import type { Method } from './method.ts'
import { contractBrand, isMethodName, type Contract } from './contract.ts'

/** Gives the instance that answers a call: a fresh one each time, or the same, as it likes. Asked once for each call. */
export type Factory<T extends object, C extends Context = Context> = (context: C) => T

/** The methods of a class as its caller sees them, those that it inherits included. */
export type PlainClient<T extends object> = {
  readonly [
    Name in keyof T as Name extends string
      ? Name extends Uncallable
        ? never
        : T[Name] extends AnyFunction
          ? Name
          : never
      : never
  ]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never
}

/** As {@link isMethodName} says it. */
type Uncallable =
  | `_${string}`
  | `$${string}`
  | 'then'
  | 'catch'
  | 'finally'
  | 'constructor'
  | 'prototype'
  | 'toJSON'
  | 'toString'
  | 'valueOf'

type AnyFunction = (...args: never[]) => unknown

/** A contract that lists nothing: its methods are those of `T`, and their input the list of arguments. */
export interface PlainContract<T extends object> extends Contract {
  /** Only types: there is no such property. */
  readonly '~instance'?: T
}

export interface PlainImplementation<T extends object> extends Implementation, PlainContract<T> {
  readonly contract: PlainContract<T>
  /** Puts an interceptor around every call, inside of those before it; what it adds is in the factory's context. */
  use<More extends object = object>(interceptor: Interceptor<More>): PlainImplementation<T>
}

export const plainBrand = '~plain'

export function fromFactory<T extends object>(name: string, factory: Factory<T, never>): PlainImplementation<T> {
  const contract = { [contractBrand]: true, [plainBrand]: true, name, methods: {}, docs: undefined } as const
  return build(contract, factory as Factory<T>, [])
}

function build<T extends object>(
  contract: PlainContract<T>,
  factory: Factory<T>,
  interceptors: readonly Interceptor[],
): PlainImplementation<T> {
  return {
    ...contract,
    [implementationBrand]: true,
    contract,
    interceptors,
    create: async () => ({}),
    bind: (_created, name) => {
      throw new TypeError(`no contract lists ${name}`)
    },
    openMethod: (name, context) => {
      const instance = factory(context)
      const method = methodOf(instance, name)
      if (method === undefined) return { run: undefined, names: namesOf(instance) }
      return { run: async (args) => (await Reflect.apply(method, instance, args as unknown[])) as unknown }
    },
    dispose: async () => {},
    use: (interceptor) => build(contract, factory, [...interceptors, interceptor as unknown as Interceptor]),
  }
}

export function isPlain(contract: object): boolean {
  return (contract as { [plainBrand]?: unknown })[plainBrand] === true
}

const anySchema = { '~standard': { version: 1, vendor: 'busbar', validate: (value: unknown) => ({ value }) } } as const
/** What is known of each method: nothing but its arguments. */
export const anyMethod: Method = {
  kind: 'fn',
  // The list of arguments: that it is one is only asked where there is such a method.
  input: anySchema,
  output: anySchema,
  errors: {},
  idempotent: false,
  key: undefined,
  http: undefined,
  status: undefined,
  timeout: undefined,
  docs: undefined,
}

/**
 * Methods of the object, of its class and of the classes that this extends, but not what every object has. What begins
 * with an underscore was not written to be called from outside; accessors are not run to find out.
 */
function methodOf(instance: object, name: string): AnyFunction | undefined {
  if (!isMethodName(name)) return undefined
  for (const holder of holdersOf(instance)) {
    const property = Object.getOwnPropertyDescriptor(holder, name)
    if (property === undefined) continue
    const value: unknown = property.value
    return typeof value === 'function' && !isClass(value) ? (value as AnyFunction) : undefined
  }
  return undefined
}

/** The object and its prototypes without the last, which is that of every object. */
function* holdersOf(instance: object): Generator<object, void> {
  yield instance
  let holder = Object.getPrototypeOf(instance) as object | null
  while (holder !== null) {
    const next = Object.getPrototypeOf(holder) as object | null
    if (next !== null) yield holder
    holder = next
  }
}

function namesOf(instance: object): string[] {
  const names = new Set([...holdersOf(instance)].flatMap((holder) => Object.getOwnPropertyNames(holder)))
  return [...names].filter((name) => methodOf(instance, name) !== undefined)
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}
