import { tags } from '../value/kinds.ts'
import type { JsonSchema } from './types.ts'

/** How a value looks in JSON that JSON itself has no words for: see `value/encode.ts`, which writes them. */
export const carried = {
  date: tagged(tags.date, { type: ['string', 'null'], format: 'date-time' }, 'A date; `null` is an invalid one.'),
  bytes: tagged(tags.bytes, { type: 'string', contentEncoding: 'base64' }, 'Bytes.'),
  bigint: tagged(tags.bigint, { type: 'string', pattern: '^-?\\d+$' }, 'An integer of any size.'),
  nan: tagged(tags.number, { const: 'NaN' }, 'Not a number.'),
  undefined: tagged(tags.undefined, { const: true }, 'Nothing.'),
  map: (key: JsonSchema, value: JsonSchema): JsonSchema =>
    tagged(tags.map, { type: 'array', items: { type: 'array', prefixItems: [key, value], minItems: 2, maxItems: 2 } }),
  set: (value: JsonSchema): JsonSchema => tagged(tags.set, { type: 'array', items: value }),
} as const

/** Of an instance of `constructor`; undefined where no call carries it, or JSON has words for it. */
export function carriedInstance(constructor: unknown): JsonSchema | undefined {
  if (constructor === Date) return carried.date
  if (constructor === Map) return carried.map({}, {})
  if (constructor === Set) return carried.set({})
  if (constructor === Uint8Array) return carried.bytes
  const isBytes = typeof constructor === 'function' && constructor.prototype instanceof Uint8Array
  return isBytes ? carried.bytes : undefined
}

function tagged(tag: string, content: JsonSchema, description?: string): JsonSchema {
  const schema = { type: 'object', properties: { [tag]: content }, required: [tag], additionalProperties: false }
  return description === undefined ? schema : { ...schema, description }
}
