import { checkOf, type Check, type Checked, type Schema } from '../../schema.ts'
import { decodeJson } from '../../value/decode.ts'
import { isPlainObject, describeValue, SerialisationError } from '../../value/serialisable.ts'
import type { kindOf } from './field-kinds.ts'
import { hasQuery, type HttpMapping } from './http-mapping.ts'
import { parseQuery, readText, toText, type KindOf } from './text-fields.ts'

/**
 * Query parameters that are not fields of the input. `$input` is the whole input as JSON; a client
 * sends it if text would be read as another value. `$undefined` names fields that are present with
 * the value `undefined`.
 */
export const inputParameter = '$input'
export const undefinedParameter = '$undefined'

/** The parts of a request that make up an input. */
export interface MappedParts {
  /** Without the question mark. */
  readonly query: string
  /** The path parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** The body, decoded; undefined without a body. */
  readonly content: unknown
}

/**
 * Reads the input of a mapped method; returns a promise if its schema is asynchronous. The client
 * also uses it, to predict how the service reads a request; it needs no `kind`, which only improves
 * errors. Throws {@link SerialisationError} or `MalformedJson`.
 */
export function readInput(
  mapping: HttpMapping,
  schema: Schema | undefined,
  parts: MappedParts,
  kind?: typeof kindOf,
): unknown {
  const check = checkOf(schema)
  const declared = check && { check, kindOf: kind && ((field: string) => kind(schema!, field)) }
  return hasQuery(mapping) ? readQuery(declared, parts) : readBody(declared, mapping, parts)
}

interface Declared {
  readonly check: Check
  readonly kindOf: KindOf | undefined
}

function readQuery(declared: Declared | undefined, { query, parameters }: MappedParts): unknown {
  const { [inputParameter]: exact, [undefinedParameter]: absent, ...inQuery } = parseQuery(query)
  if (typeof exact === 'string') return requireSamePath(decodeJson(exact), parameters)
  const fields = { ...inQuery, ...parameters }
  const missing = absent === undefined ? [] : [absent].flat().map(String)
  if (missing.length === 0 && Object.keys(fields).length === 0) return withoutFields(declared?.check)
  if (declared === undefined) return fields
  const undefinedFields = Object.fromEntries(missing.map((name) => [name, undefined]))
  return readText(declared.check, { ...undefinedFields, ...fields }, new Set(Object.keys(fields)), declared.kindOf)
}

/** A field that is in the body too is taken from the body, if its text equals that in the path. */
function readBody(declared: Declared | undefined, mapping: HttpMapping, { parameters, content }: MappedParts): unknown {
  if (mapping.parameters.length === 0) return content
  const fields = requireFields(content === undefined ? {} : content)
  const textual = mapping.parameters.filter((name) => !hasSameText(fields, name, parameters))
  if (declared === undefined || textual.length === 0) return { ...parameters, ...fields }
  const inPath = Object.fromEntries(textual.map((name) => [name, parameters[name]]))
  return readText(declared.check, { ...fields, ...inPath }, new Set(textual), declared.kindOf)
}

/** Proxies and policies decide by the path, so the input cannot say something else. */
function requireSamePath(input: unknown, parameters: Readonly<Record<string, string>>): unknown {
  const names = Object.keys(parameters)
  if (names.length === 0) return input
  const fields = requireFields(input)
  const other = names.find((name) => !hasSameText(fields, name, parameters))
  if (other === undefined) return input
  throw new SerialisationError([other], `differs between the path and ${inputParameter}`)
}

function hasSameText(fields: Fields, name: string, parameters: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(fields, name) && fields[name] !== undefined && toText(fields[name]) === parameters[name]
}

type Fields = Readonly<Record<string, unknown>>

export function requireFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && isPlainObject(value)) return value
  throw new SerialisationError([], `${describeValue(value)} has no fields, but the path contains one`)
}

/**
 * Both an input without fields and no input at all are sent as an empty query; only the schema
 * knows which one is meant.
 */
function withoutFields(check: Check | undefined): unknown {
  if (check === undefined) return undefined
  const inputOf = ({ issues }: Checked): unknown => (issues === undefined ? undefined : {})
  const result = check(undefined)
  return result instanceof Promise ? result.then(inputOf) : inputOf(result)
}
