/**
 * The protobuf side of a contract, as plain data: what descriptors, text and codecs are made of.
 */

export type Scalar = 'string' | 'bool' | 'double' | 'int32' | 'uint32' | 'int64' | 'bytes'

/** What one value of a field is. */
export type FieldType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  /** A bigint, written as a string of digits. */
  | { readonly kind: 'bigint' }
  /** `google.protobuf.Timestamp`. */
  | { readonly kind: 'date' }
  /** `google.protobuf.Value`: everything that protobuf has no type for. */
  | { readonly kind: 'any' }
  /** A message of the same file, or of another one by its full name. */
  | { readonly kind: 'message'; readonly name: string }

/**
 * - `implicit`: absent means zero, the empty text or false; for a message: invalid
 * - `optional`: absent means missing
 * - `nullable`: absent means null
 */
export type Presence = 'implicit' | 'optional' | 'nullable'

export type FieldShape =
  | { readonly is: 'single'; readonly presence: Presence }
  /** `optional`: an empty one arrives as a missing one. */
  | { readonly is: 'repeated'; readonly optional: boolean }
  | { readonly is: 'map'; readonly optional: boolean }

export interface Field {
  /** The property of the JavaScript value. */
  readonly key: string
  /** The name in protobuf. */
  readonly name: string
  readonly number: number
  readonly type: FieldType
  readonly shape: FieldShape
  readonly docs?: string | undefined
}

export interface Message {
  readonly name: string
  readonly fields: readonly Field[]
  /** Its only field is the value itself: protobuf has messages only. */
  readonly wraps?: boolean
  /** Fields that the contract had once. */
  readonly removed?: readonly { readonly name: string; readonly number: number }[]
  readonly docs?: string | undefined
}

export interface Rpc {
  /** The name in protobuf. */
  readonly name: string
  /** The name in the contract. */
  readonly method: string
  /** Undefined for a method without input: its message is empty. */
  readonly hasInput: boolean
  readonly hasOutput: boolean
  readonly request: string
  readonly response: string
  readonly clientStreams: boolean
  readonly serverStreams: boolean
  readonly docs?: string | undefined
}

export interface ProtoFile {
  readonly package: string
  readonly service: string
  readonly methods: readonly Rpc[]
  readonly messages: ReadonlyMap<string, Message>
  readonly docs?: string | undefined
  /** What protobuf could not express, as sentences. */
  readonly notes: readonly string[]
}

/** `rpz.ItemService`: as in the path of a call. */
export function fullServiceName(file: ProtoFile): string {
  return `${file.package}.${file.service}`
}

/** A field as it stands in a `.proto` file, without its name: also what the lock file remembers. */
export function fieldTypeText({ type, shape }: Pick<Field, 'type' | 'shape'>): string {
  const text = typeText(type)
  if (shape.is === 'repeated') return `repeated ${text}`
  if (shape.is === 'map') return `map<string, ${text}>`
  return shape.presence !== 'implicit' && type.kind !== 'message' && type.kind !== 'date' && type.kind !== 'any'
    ? `optional ${text}`
    : text
}

export function typeText(type: FieldType): string {
  switch (type.kind) {
    case 'scalar':
      return type.scalar
    case 'bigint':
      return 'string'
    case 'date':
      return 'google.protobuf.Timestamp'
    case 'any':
      return 'google.protobuf.Value'
    case 'message':
      return type.name
  }
}
