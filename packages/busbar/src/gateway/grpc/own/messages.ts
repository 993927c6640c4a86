import type { Field, FieldType, Message, Scalar } from '../../../contract/protobuf/model.ts'

/**
 * Messages of gRPC's own services, for their codecs. `optional`: one of several that may be set.
 */
export function message(name: string, fields: readonly Field[]): [string, Message] {
  return [name, { name, fields }]
}

export function field(number: number, name: string, type: Scalar | { readonly message: string }): Field {
  return { key: name, name, number, type: typeOf(type), shape: { is: 'single', presence: 'implicit' } }
}

export function optional(number: number, name: string, type: Scalar | { readonly message: string }): Field {
  return { ...field(number, name, type), shape: { is: 'single', presence: 'optional' } }
}

export function repeated(number: number, name: string, type: Scalar | { readonly message: string }): Field {
  return { ...field(number, name, type), shape: { is: 'repeated', optional: false } }
}

function typeOf(type: Scalar | { readonly message: string }): FieldType {
  return typeof type === 'string' ? { kind: 'scalar', scalar: type } : { kind: 'message', name: type.message }
}
