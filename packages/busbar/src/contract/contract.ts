import type { Methods } from './method.ts'
import type { Schema } from './schema.ts'

/** Text, so that two copies of this package agree on it, in their types too. */
export const contractBrand = '~contract'

/** What a typed service offers, as a value: all that its callers import. */
export interface Contract<M extends Methods = Methods> {
  readonly [contractBrand]: true
  readonly name: string
  readonly methods: M
  readonly docs: string | undefined
  /** Of what callers say beside their inputs: headers over HTTP. */
  readonly metadata?: Schema | undefined
}

/** By its brand: caller and service may have different copies of this package. */
export function isContract(value: unknown): value is Contract {
  return typeof value === 'object' && value !== null && (value as Partial<Contract>)[contractBrand] === true
}

/** A DNS label: it is the address of the service, and a segment of its paths. */
export function isServiceName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
}

/** What promises, JSON and objects themselves ask for: a client must not answer to it. */
const reserved: ReadonlySet<string> = new Set([
  'then',
  'catch',
  'finally',
  'constructor',
  'prototype',
  'toJSON',
  'toString',
  'valueOf',
])

export function isMethodName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !reserved.has(name)
}
