import type { Contract } from './contract.ts'
import type { Method } from './method.ts'

export const plainBrand = '~plain'

/** The methods of a class as its caller sees them, including inherited ones. */
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

/** The names that {@link isMethodName} refuses. */
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

/**
 * A contract that lists no methods: they are those of `T`, and their input is the list of
 * arguments.
 */
export interface PlainContract<T extends object> extends Contract {
  /** Keeps a contract that lists methods from being assignable to this type. */
  readonly [plainBrand]: true
  /** Type only; no such property exists. */
  readonly '~instance'?: T
}

export function isPlainContract(contract: object): boolean {
  return (contract as { [plainBrand]?: unknown })[plainBrand] === true
}

const anySchema = { '~standard': { version: 1, vendor: 'busbar', validate: (value: unknown) => ({ value }) } } as const
/** The definition of every method: nothing is known but its list of arguments. */
export const untypedMethod: Method = {
  kind: 'fn',
  // Whether the input is a list is checked once the method is found.
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
