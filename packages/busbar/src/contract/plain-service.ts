import type { Context } from './context.ts'
import type { Interceptor } from './host/interceptors.ts'
import type { Implementation } from './implementation.ts'
import { contractBrand, implementationBrand, isMethodName } from './contract.ts'
import { plainBrand, type PlainContract } from './plain-contract.ts'

/**
 * Returns the instance that answers a call: a new one each time, or always the same. Called once
 * per call.
 */
export type Factory<T extends object, C extends Context = Context> = (context: C) => T

export interface PlainImplementation<T extends object> extends Implementation, PlainContract<T> {
  readonly contract: PlainContract<T>
  /**
   * Adds an interceptor around every call, inside those added before; the factory's context has
   * what it adds.
   */
  use<More extends object = object>(interceptor: Interceptor<More>): PlainImplementation<T>
}

export function implementFactory<T extends object>(name: string, factory: Factory<T, never>): PlainImplementation<T> {
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
      throw new TypeError(`the contract does not list ${name}`)
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

type AnyFunction = (...args: never[]) => unknown

/**
 * Finds a method of the object, its class or a base class, but not of `Object.prototype`. Names
 * that begin with an underscore are private by convention. Accessors are not invoked.
 */
function methodOf(instance: object, name: string): AnyFunction | undefined {
  if (!isMethodName(name)) return undefined
  for (const holder of prototypesOf(instance)) {
    const property = Object.getOwnPropertyDescriptor(holder, name)
    if (property === undefined) continue
    const value: unknown = property.value
    return typeof value === 'function' && !isClass(value) ? (value as AnyFunction) : undefined
  }
  return undefined
}

/** The object and its prototypes, without `Object.prototype`. */
function* prototypesOf(instance: object): Generator<object, void> {
  yield instance
  let holder = Object.getPrototypeOf(instance) as object | null
  while (holder !== null) {
    const next = Object.getPrototypeOf(holder) as object | null
    if (next !== null) yield holder
    holder = next
  }
}

function namesOf(instance: object): string[] {
  const names = new Set([...prototypesOf(instance)].flatMap((holder) => Object.getOwnPropertyNames(holder)))
  return [...names].filter((name) => methodOf(instance, name) !== undefined)
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}
