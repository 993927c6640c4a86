import { type Side, toJsonSchema } from './openapi/json-schema.ts'
import type { Contract } from './contract.ts'
import type { Method } from './method.ts'
import { checksAnything, isSchema, type Schema } from './schema.ts'
import { literalKeywords } from './openapi/references.ts'
import type { JsonSchema } from './openapi/types.ts'
import { valibotText } from './valibot-text.ts'

const known = new WeakMap<Method, string | undefined>()

/**
 * A short text that is the same at both ends if they have the same contract of a method: its kind,
 * its schemas as JSON Schema, and its errors. Undefined for a method without schemas, which fits
 * any. Texts for people make no difference, and neither does what only the callee decides.
 */
export function contractOf(method: Method): string | undefined {
  if (!known.has(method)) known.set(method, describe(method))
  return known.get(method)
}

/** The same for the whole contract of a service. */
export function contractOfService({ methods, topics = {} }: Contract): string {
  const all = Object.entries(methods).map(([name, method]) => `${name} ${contractOf(method) ?? ''}`)
  for (const [name, { value }] of Object.entries(topics)) all.push(`${name} topic ${schemaText(value, 'input')}`)
  return hash(sorted(all).join('\n'), 0x811c9dc5)
}

/** Whether two ends understand each other. */
export function isSameContract(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other
}

function describe({ kind, input, output, errors, idempotent, takesMany }: Method): string | undefined {
  if (!checksAnything(input) && !checksAnything(output)) return undefined
  const declared = Object.entries(errors).map(
    ([code, { status, data }]) => `${code} ${status} ${schemaText(data, 'output')}`,
  )
  const parts = [
    takesMany === true ? `many ${kind}` : kind,
    idempotent,
    schemaText(input, 'input'),
    schemaText(output, 'output'),
    sorted(declared),
  ]
  const text = JSON.stringify(parts)
  return hash(text, 0x811c9dc5) + hash(text, 0x050c5d1f)
}

function schemaText(schema: Schema | undefined, side: Side): string {
  if (schema === undefined) return ''
  if (!checksAnything(schema)) return 'any'
  const described = documentOf(schema, side, [])
  return typeof described === 'string' ? described : JSON.stringify(canonical(described))
}

/**
 * Text if the library does not convert its schemas to JSON Schema. `open`: schemas that it is part
 * of. A map may contain maps of its own kind.
 */
function documentOf(schema: Schema, side: Side, open: readonly unknown[]): JsonSchema | string {
  if (open.includes(schema)) return {}
  const nested = (part: unknown): JsonSchema => {
    const described = isSchema(part) ? documentOf(part, side, [...open, schema]) : {}
    return typeof described === 'string' ? { const: described } : described
  }
  const { document } = toJsonSchema(schema, side, nested, {})
  const { vendor } = schema['~standard']
  return document ?? (vendor === 'valibot' ? valibotText(schema) : vendor)
}

const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'examples',
  'deprecated',
  '$comment',
  '$schema',
  '$id',
])
/** Keywords whose keys are names that the contract gives. */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** What the keys of an object are. */
type Keys = 'keywords' | 'names' | 'data'

/** In one order, and without what is for people. */
function canonical(part: unknown, keys: Keys = 'keywords'): unknown {
  const within = keys === 'data' ? 'data' : 'keywords'
  if (Array.isArray(part)) return part.map((one) => canonical(one, within))
  if (typeof part !== 'object' || part === null) return part
  const isKeyword = keys === 'keywords'
  const entries = Object.entries(part).filter(([key]) => !isKeyword || !annotations.has(key))
  return entries
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [
      key,
      isKeyword && key === 'required' && Array.isArray(value)
        ? sorted(value as string[])
        : canonical(value, isKeyword ? keysWithin(key) : within),
    ])
}

function keysWithin(keyword: string): Keys {
  if (named.has(keyword)) return 'names'
  return literalKeywords.has(keyword) ? 'data' : 'keywords'
}

function sorted(texts: readonly string[]): string[] {
  return texts.toSorted((one, other) => (one < other ? -1 : 1))
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, seed: number): string {
  let value = seed
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(36).padStart(7, '0')
}
