import type { Method } from '../../method.ts'
import { checkOf, type Checked, type Schema } from '../../schema.ts'
import { encodeJson, toTagged } from '../../value/encode.ts'
import {
  inputParameter,
  readInput,
  requireFields,
  undefinedParameter,
  type MappedParts,
} from '../../http/mapping/mapped-input.ts'
import { hasQuery, type HttpMapping } from '../../http/mapping/http-mapping.ts'
import { isPlainObject, SerialisationError } from '../../value/serialisable.ts'
import { toText } from '../../http/mapping/text-fields.ts'

/** A call as an HTTP request, without the base URL. */
export interface HttpRequest {
  readonly verb: string
  /** The path with its query; begins with a slash. */
  readonly path: string
  readonly body: string | undefined
}

export type Encode = (value: unknown) => string | undefined

/**
 * Throws {@link SerialisationError}, or what `encode` throws. `encode` is not called without an
 * input.
 */
export function buildRequest(
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
  // The whole input, so that a value that cannot be serialised is refused wherever it is.
  if (encode === undefined) toTagged(given)
  const fields = fieldsOf(given, mapping)
  const parameters = Object.fromEntries(mapping.parameters.map((name) => [name, takeField(fields, name)]))
  const path = pathOf(mapping, parameters)
  // A service with another format does not know our query parameters, so it gets text.
  const reads = (parts: MappedParts): boolean =>
    encode !== undefined || isReadAs(given, readInput(mapping, method?.input, parts), method?.input)
  if (hasQuery(mapping)) return { verb, path: path + queryOf(given, fields, parameters, reads), body: undefined }
  const isRead = isCertain(() => reads({ query: '', parameters, content: fields }))
  return { verb, path, body: bodyOf(isRead ? fields : given, write) }
}

type Fields = Record<string, unknown>

/** A copy. An input that is not an object is only possible in a query without path parameters. */
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

/** Removes a field from `fields` for the path. */
function takeField(fields: Fields, parameter: string): string {
  const value = Object.hasOwn(fields, parameter) ? fields[parameter] : undefined
  delete fields[parameter]
  const text = value === undefined ? '' : toText(value)
  const fault = faultOf(text)
  if (fault !== undefined) throw new SerialisationError([parameter], fault)
  return text
}

/**
 * Why a text cannot be a path segment. URL parsers remove `.` and `..`, also as `%2e` (URL
 * Standard, 4.1), so the request would reach another endpoint. The same holds for text beginning
 * with `../`: some servers decode a path before they resolve it, and the gateway refuses it. A
 * percent sign in the text is encoded and harmless.
 */
function faultOf(text: string): string | undefined {
  if (text === '') return 'the path needs a non-empty value'
  if (/^\.\.?(\/|$)/.test(text)) return `${JSON.stringify(text)} cannot be sent in a path`
  return text.isWellFormed() ? undefined : 'an unpaired surrogate cannot be sent in a path'
}

function bodyOf(input: unknown, encode: Encode): string | undefined {
  return input === undefined ? undefined : encode(input)
}

/**
 * The fields as text if the service would read the same input from them, else the whole input as
 * JSON. They can differ: `string | number` accepts both readings.
 */
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
  if (isCertain(() => reads({ query: text, parameters, content: undefined }))) return text === '' ? '' : `?${text}`
  return `?${new URLSearchParams({ [inputParameter]: encodeJson(input) ?? '{"$undefined":true}' }).toString()}`
}

/** False if the result is asynchronous or throws. */
function isCertain(test: () => boolean): boolean {
  try {
    return test()
  } catch {
    return false
  }
}

/**
 * Whether the schema produces the same value from what the service reads as from the input. An
 * input that the schema refuses is never sent as text: the service's error would describe the text,
 * not the input.
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

/** An ignored promise must not cause an unhandled rejection. */
function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  if (!(value instanceof Promise)) return false
  value.catch(() => {})
  return true
}

function isFields(value: unknown): value is Readonly<Fields> {
  return typeof value === 'object' && value !== null && isPlainObject(value)
}

/** The order of fields does not matter. */
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
