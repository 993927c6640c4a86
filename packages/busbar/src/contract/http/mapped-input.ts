import { checkOf, type Check, type Checked, type Schema } from '../schema.ts'
import { decodeJson } from '../value/decode.ts'
import { isPlain, nameOf, Uncarriable } from '../value/kinds.ts'
import type { kindOf } from './field-kinds.ts'
import { hasQuery, type HttpMapping } from './mapping.ts'
import { parseQuery, readText, toText, type KindOf } from './text-fields.ts'

/**
 * Parameters of a query that are no fields of the input. `$input` is the whole input as JSON; a client sends it where text
 * would be read as another value. `$undefined` names a field that is there and undefined.
 */
export const exactParameter = '$input'
export const undefinedParameter = '$undefined'

/** The parts of a request that are an input's. */
export interface MappedParts {
  /** Without its question mark. */
  readonly query: string
  /** What stands in the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** The body, decoded; undefined where there is none. */
  readonly content: unknown
}

/**
 * The input of a mapped method; a promise where its schema is asynchronous. The client asks it too, of what it is about to
 * send, and needs no `kind`, by which refusals say what the sender meant. Throws {@link Uncarriable} or `MalformedJson`.
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
  const { [exactParameter]: exact, [undefinedParameter]: absent, ...inQuery } = parseQuery(query)
  if (typeof exact === 'string') return requireSamePath(decodeJson(exact), parameters)
  const fields = { ...inQuery, ...parameters }
  const missing = absent === undefined ? [] : [absent].flat().map(String)
  if (missing.length === 0 && Object.keys(fields).length === 0) return withoutFields(declared?.check)
  if (declared === undefined) return fields
  const undefinedOnes = Object.fromEntries(missing.map((name) => [name, undefined]))
  return readText(declared.check, { ...undefinedOnes, ...fields }, new Set(Object.keys(fields)), declared.kindOf)
}

/** A field that stands in the body as well is what the body says, if that is written like the text in the path. */
function readBody(declared: Declared | undefined, mapping: HttpMapping, { parameters, content }: MappedParts): unknown {
  if (mapping.parameters.length === 0) return content
  const fields = requireFields(content === undefined ? {} : content)
  const textual = mapping.parameters.filter((name) => !saysTheSame(fields, name, parameters))
  if (declared === undefined || textual.length === 0) return { ...parameters, ...fields }
  const inPath = Object.fromEntries(textual.map((name) => [name, parameters[name]]))
  return readText(declared.check, { ...fields, ...inPath }, new Set(textual), declared.kindOf)
}

/** The path is what others look at who decide about a request: the input cannot say something else. */
function requireSamePath(input: unknown, parameters: Readonly<Record<string, string>>): unknown {
  const names = Object.keys(parameters)
  if (names.length === 0) return input
  const fields = requireFields(input)
  const other = names.find((name) => !saysTheSame(fields, name, parameters))
  if (other === undefined) return input
  throw new Uncarriable([other], `is another one in the path than in ${exactParameter}`)
}

function saysTheSame(fields: Fields, name: string, parameters: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(fields, name) && fields[name] !== undefined && toText(fields[name]) === parameters[name]
}

type Fields = Readonly<Record<string, unknown>>

export function requireFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && isPlain(value)) return value
  throw new Uncarriable([], `${nameOf(value)} has no fields, and one stands in the path`)
}

/** No query is what both an input without fields and none at all are sent as: which one it was, only the schema knows. */
function withoutFields(check: Check | undefined): unknown {
  if (check === undefined) return undefined
  const inputOf = ({ issues }: Checked): unknown => (issues === undefined ? undefined : {})
  const result = check(undefined)
  return result instanceof Promise ? result.then(inputOf) : inputOf(result)
}
