import { implementationBrand, type Implementation } from './implementation.ts'
import type { Method } from './method.ts'
import { contractBrand, isMethodName, type Contract } from './contract.ts'

/** Called for each call: a fresh instance each time, or the same, as it likes. */
export type Factory<T extends object> = () => T

/** The methods of a class as its caller sees them. */
export type PlainClient<T extends object> = {
  readonly [
    Name in keyof T as Name extends `_${string}` ? never : T[Name] extends AnyFunction ? Name : never
  ]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never
}

type AnyFunction = (...args: never[]) => unknown

/** A contract that lists nothing: its methods are those of `T`, and their input the list of arguments. */
export interface PlainContract<T extends object> extends Contract {
  /** Only types: there is no such property. */
  readonly '~instance'?: T
}

export interface PlainImplementation<T extends object> extends Implementation, PlainContract<T> {
  readonly contract: PlainContract<T>
}

export const plainBrand = '~plain'

export function fromFactory<T extends object>(name: string, factory: Factory<T>): PlainImplementation<T> {
  const contract = { [contractBrand]: true, [plainBrand]: true, name, methods: {}, docs: undefined } as const
  return {
    ...contract,
    [implementationBrand]: true,
    contract,
    interceptors: [],
    create: async () => ({}),
    openMethod: (name) => (methodOf(factory(), name) === undefined ? undefined : anyMethod),
    bind: (_created, name) => async (args) => {
      const instance = factory()
      const method = methodOf(instance, name)
      if (method === undefined) throw new TypeError(`${name} is no method of this instance`)
      return await (Reflect.apply(method, instance, args as unknown[]) as unknown)
    },
    dispose: async () => {},
  }
}

export function isPlain(contract: object): boolean {
  return (contract as { [plainBrand]?: unknown })[plainBrand] === true
}

const anySchema = { '~standard': { version: 1, vendor: 'busbar', validate: (value: unknown) => ({ value }) } } as const
/** The input is the list of arguments. */
const listSchema = {
  '~standard': {
    version: 1,
    vendor: 'busbar-arguments',
    validate: (value: unknown) =>
      Array.isArray(value) ? { value } : { issues: [{ message: 'the input is a list of arguments' }] },
  },
} as const

const anyMethod: Method = {
  kind: 'fn',
  input: listSchema,
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
 * Own methods only: those of the object itself and of its very class. What it inherits was not written to be called from
 * outside, nor what begins with an underscore; accessors are not run to find out.
 */
function methodOf(instance: object, name: string): AnyFunction | undefined {
  if (!isMethodName(name)) return undefined
  const prototype = Object.getPrototypeOf(instance) as object | null
  const own = prototype === null || Object.getPrototypeOf(prototype) === null ? [instance] : [instance, prototype]
  for (const holder of own) {
    const value: unknown = Object.getOwnPropertyDescriptor(holder, name)?.value
    if (typeof value === 'function' && !isClass(value)) return value as AnyFunction
  }
  return undefined
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}
