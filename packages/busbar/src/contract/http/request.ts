import type { Method } from '../method.ts'
import { checkOf, type Checked, type Schema } from '../schema.ts'
import { encodeJson, toTagged } from '../value/encode.ts'
import { exactParameter, readInput, requireFields, undefinedParameter, type MappedParts } from './mapped-input.ts'
import { hasQuery, type HttpMapping } from './mapping.ts'
import { isPlain, Uncarriable } from '../value/kinds.ts'
import { toText } from './text-fields.ts'

/** A call as a request, without its base. */
export interface HttpRequest {
  readonly verb: string
  /** Begins with a slash; with its query. */
  readonly path: string
  readonly body: string | undefined
}

export type Encode = (value: unknown) => string | undefined

/** Throws {@link Uncarriable}, or what `encode` throws, which is not asked where there is no input. */
export function requestOf(
  service: string,
  name: string,
  method: Method | undefined,
  input: unknown,
  encode?: Encode,
): HttpRequest {
  const given = method !== undefined && method.input === undefined ? undefined : input
  const mapping = method?.http
  const write = encode ?? encodeJson
  if (mapping === undefined) return { verb: 'POST', path: `/${service}/${name}`, body: bodyOf(given, write) }
  const { verb } = mapping
  if (mapping.parameters.length === 0 && !hasQuery(mapping))
    return { verb, path: mapping.path, body: bodyOf(given, write) }
  // All of it, so that what no call carries is refused wherever it stands.
  if (encode === undefined) toTagged(given)
  const fields = fieldsOf(given, mapping)
  const parameters = Object.fromEntries(mapping.parameters.map((name) => [name, take(fields, name)]))
  const path = pathOf(mapping, parameters)
  // Who speaks otherwise knows nothing of our parameters, and gets text.
  const reads = (parts: MappedParts): boolean =>
    encode !== undefined || isReadAs(given, readInput(mapping, method?.input, parts), method?.input)
  if (hasQuery(mapping)) return { verb, path: path + queryOf(given, fields, parameters, reads), body: undefined }
  const isRead = settled(() => reads({ query: '', parameters, content: fields }))
  return { verb, path, body: bodyOf(isRead ? fields : given, write) }
}

type Fields = Record<string, unknown>

/** A copy. Only a query without fields in the path can carry what has none. */
function fieldsOf(input: unknown, { parameters }: HttpMapping): Fields {
  if (input === undefined) return {}
  if (parameters.length === 0 && !isFields(input)) return {}
  return { ...requireFields(input) }
}

function pathOf({ segments }: HttpMapping, parameters: Readonly<Record<string, string>>): string {
  const parts = segments.map((segment) =>
    'text' in segment ? segment.text : encodeURIComponent(parameters[segment.parameter]!),
  )
  return `/${parts.join('/')}`
}

/** Moves a field into the path. */
function take(fields: Fields, parameter: string): string {
  const value = Object.hasOwn(fields, parameter) ? fields[parameter] : undefined
  delete fields[parameter]
  const text = value === undefined ? '' : toText(value)
  const fault = faultOf(text)
  if (fault !== undefined) throw new Uncarriable([parameter], fault)
  return text
}

/**
 * Why a text cannot be a segment of a path. URL parsers remove `.` and `..`, also as `%2e` (URL Standard, 4.1), so the
 * request would reach another endpoint. So does what begins with `../` for servers that decode a path before they resolve
 * it; the gateway refuses it. A percent sign in the text itself is encoded, and changes nothing.
 */
function faultOf(text: string): string | undefined {
  if (text === '') return 'the path needs a value that is not empty'
  if (/^\.\.?(\/|$)/.test(text)) return `${JSON.stringify(text)} cannot be sent in a path`
  return text.isWellFormed() ? undefined : 'an unpaired surrogate cannot be sent in a path'
}

function bodyOf(input: unknown, encode: Encode): string | undefined {
  return input === undefined ? undefined : encode(input)
}

/** Fields as text where the service reads them as the very input, else the input as JSON: `string | number` is both. */
function queryOf(
  input: unknown,
  fields: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, string>>,
  reads: (parts: MappedParts) => boolean,
): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields))
    if (value === undefined) query.append(undefinedParameter, key)
    else query.append(key, toText(value))
  const text = query.toString()
  if (settled(() => reads({ query: text, parameters, content: undefined }))) return text === '' ? '' : `?${text}`
  return `?${new URLSearchParams({ [exactParameter]: encodeJson(input) ?? '{"$undefined":true}' }).toString()}`
}

/** False where it cannot be known at once. */
function settled(test: () => boolean): boolean {
  try {
    return test()
  } catch {
    return false
  }
}

/**
 * Whether the schema makes the same of what the service reads as of what was given. What it refuses is never sent as text,
 * of which the service would be told what is wrong with what it takes it for.
 */
function isReadAs(given: unknown, read: unknown, schema: Schema | undefined): boolean {
  if (isPending(read)) return false
  const check = checkOf(schema)
  if (check === undefined) return true
  const meant = check(given)
  const got = isPending(meant) ? meant : check(read)
  if (isPending(meant) || isPending(got) || meant.issues !== undefined) return false
  return textOf(meant) === textOf(got)
}

/** What becomes of it does not matter then. */
function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  if (!(value instanceof Promise)) return false
  value.catch(() => {})
  return true
}

function isFields(value: unknown): value is Readonly<Fields> {
  return typeof value === 'object' && value !== null && isPlain(value)
}

/** The order of fields says nothing. */
function textOf(checked: Checked): string {
  if (checked.issues !== undefined) return JSON.stringify(checked.issues)
  const { value } = checked
  const tagged = toTagged(value)
  return isFields(tagged) && isFields(value)
    ? JSON.stringify(Object.entries(tagged).toSorted(byKey))
    : JSON.stringify(tagged)
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}
