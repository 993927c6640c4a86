import fc from 'fast-check'
import { toText } from '../../../src/contract/http/mapping/text-fields.ts'
import { cloneValue } from '../../../src/contract/value/clone.ts'

class Product {
  name = 'lamp'
}

const numbers = [NaN, Infinity, -Infinity, -0, 0, 1, 1.5, -1, 2 ** 53, 1e21, 12n, -(2n ** 70n)]
const texts = ['', '7', 'null', 'true', 'false', 'a', 'x y', '[1]', '{}', '"q"', '{"$undefined":true}', '-0', 'Low']
const strange = ['\ud800', 'ä€😀', true, false, null, undefined]
const objects = [new Date(0), new Date(NaN), new Date(-1e14), new Uint8Array([0, 255]), Buffer.from('ab')]
const odd = fc.constantFrom<unknown>(...numbers, ...texts, ...strange, ...objects)

const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: odd },
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
)

/** Names in the schemas of the tests, and others with a meaning. */
const fields = ['a', 'b', 'kind', 'id', 'name', 'items', 'at', 'value', 'secret', '', 'toJSON']
const tagLike = ['$bigint', '$date', '$plain', '$undefined', '$end', '$error', '$other', '$input']
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...fields) },
  { weight: 2, arbitrary: fc.constantFrom(...tagLike) },
  fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__'),
)

/** Supported values of every kind, nested. */
export const supported: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 2 }).map((pairs) => new Map(pairs)),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => new Set(values)),
  ),
})).value

/** Values that contain an unsupported one. */
export const unsupported: fc.Arbitrary<unknown> = fc
  .constantFrom<() => unknown>(
    () => () => 1,
    () => Symbol('x'),
    () => new Product(),
    () => new Error('x'),
    () => new Float32Array(1),
    () => 10n ** 10_000n,
    () => Object.create({ __proto__: null, secret: 1 }) as unknown,
    () => JSON.parse('{"__proto__":1}') as unknown,
  )
  .chain((make) => fc.constantFrom(make(), { a: make() }, [make()], new Map([['a', make()]]), new Set([make()])))

const text = fc.oneof(fc.constantFrom('', '7', 'null', 'false', 'true', 'a'), fc.string())
function record(
  fields: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys = Object.keys(fields),
): fc.Arbitrary<object> {
  return fc.record(fields, { requiredKeys, noNullPrototype: true })
}
const secret = { secret: 'hash' }

/** By name of a schema: values that it accepts, and near misses. */
const candidates: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  any: supported,
  text,
  number: fc.oneof(fc.double(), fc.constantFrom(-0, Infinity, NaN, '7')),
  truth: fc.constantFrom(true, false, 'true', 'false', 1),
  list: fc.array(fc.option(text, { nil: undefined }), { maxLength: 4 }),
  tagLike: record({ $bigint: fc.constantFrom('12', 'x', 12n) }),
  level: fc.constantFrom(0, 1, 'Low', 'High', '0', 2),
  optional: fc.constantFrom({}, { a: undefined }, { a: 'x' }, { a: 'x', ...secret }, { a: null }),
  exactOptional: fc.constantFrom({}, { a: undefined }, { a: 'x' }, { a: 'x', ...secret }),
  undefinedField: fc.constantFrom({}, { a: undefined }, { a: 'x' }, { a: undefined, ...secret }),
  anyField: record({ a: supported }),
  nullable: fc.constantFrom(null, 'null', '', 'a', undefined),
  union: fc.oneof(text, fc.double(), fc.integer()),
  record: fc.dictionary(key, fc.oneof(fc.double(), fc.constantFrom('7')), { maxKeys: 3, noNullPrototype: true }),
  open: record({ a: text, b: supported }),
  nested: record({
    id: fc.constantFrom(1, -0, 1.5),
    items: fc.array(record({ name: text, secret: supported }, ['name']), { maxLength: 3 }),
    secret: supported,
  }),
  date: record({ at: fc.oneof(fc.date({ noInvalidDate: false }), fc.constant('2026-01-01')) }),
  bigint: fc.oneof(fc.bigInt(), fc.constant('12')),
  map: fc.array(fc.tuple(text, supported), { maxLength: 3 }).map((pairs) => new Map(pairs)),
  set: fc.array(supported, { maxLength: 3 }).map((values) => new Set(values)),
  tuple: fc.tuple(text, fc.oneof(fc.double(), fc.constant(undefined))),
  choice: record({ kind: fc.constantFrom('a', 'b', 'c'), a: text, b: text }),
  maybe: fc.constantFrom(undefined, {}, { a: 'x' }, { a: 'x', ...secret }, null),
  defaulted: fc.constantFrom({}, { a: undefined }, { a: 'y' }, { a: 'x', ...secret }),
  coerced: fc.oneof(text, fc.double(), fc.constantFrom(null, true, undefined, '1e3', ' 7')),
  transformed: text,
  later: text,
}

export function supportedFor(schema: string): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: candidates[schema]! }, { weight: 1, arbitrary: supported })
}

export function isSupported(value: unknown): boolean {
  try {
    cloneValue(value)
    return true
  } catch {
    return false
  }
}

/**
 * Clients over HTTP refuse fields that a path cannot carry: see `path-fields.test.ts`. Fastify
 * answers 404 if a field of a path is longer than its `maxParamLength`, 100.
 */
export function fitsPath(input: unknown): boolean {
  const { value } = input as { value: unknown }
  if (typeof value !== 'string') return value !== undefined && (!isSupported(value) || toText(value).length <= 100)
  return value.isWellFormed() && value.length <= 100 && !/^(?:$|\.{1,2}(?:\/|$))/.test(value)
}

export function valuesFor(schema: string): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: candidates[schema]! },
    { weight: 2, arbitrary: supported },
    { weight: 1, arbitrary: unsupported },
  )
}
