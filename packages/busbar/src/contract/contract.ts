import type { Topics } from './events/topic.ts'
import type { Methods } from './method.ts'
import type { ProtoLock } from './protobuf/lock-types.ts'
import type { Schema } from './schema.ts'

/** A string, not a symbol, so that two copies of this package agree on it, in their types too. */
export const contractBrand = '~contract'
export const implementationBrand = '~implementation'

/** What a typed service offers, as a plain value. Callers import nothing else. */
export interface Contract<M extends Methods = Methods, T extends Topics = Topics> {
  readonly [contractBrand]: true
  readonly name: string
  readonly methods: M
  /** Undefined in a contract without topics. */
  readonly topics?: T | undefined
  readonly docs: string | undefined
  /** Schema of the metadata: headers over HTTP. */
  readonly metadata?: Schema | undefined
  /** The full name of the gRPC service, if it does not follow from the name. */
  readonly grpc?: string | undefined
  /** The numbers of its fields in protobuf. Default: by their positions. */
  readonly protoLock?: ProtoLock | undefined
}

/** Checks the brand, since caller and service may have different copies of this package. */
export function isContract(value: unknown): value is Contract {
  return typeof value === 'object' && value !== null && (value as Partial<Contract>)[contractBrand] === true
}

/** A DNS label: the name is the service's address and a segment of its paths. */
export function isServiceName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
}

/** Names that promises, JSON and objects look up themselves; a client must not answer to them. */
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
