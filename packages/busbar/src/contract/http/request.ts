import type { Method } from '../method.ts'
import { encodeJson } from '../value/encode.ts'
import { hasQuery } from './mapping.ts'
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
  encode: Encode = encodeJson,
): HttpRequest {
  const mapping = method?.http
  if (mapping === undefined) return { verb: 'POST', path: `/${service}/${name}`, body: bodyOf(input, encode) }
  const fields = { ...(input as Record<string, unknown> | undefined) }
  const path = mapping.segments.map((segment) => ('text' in segment ? segment.text : take(fields, segment.parameter)))
  const place = `/${path.join('/')}`
  // The whole input where nothing of it stands in the path: it need not be an object then.
  const whole = mapping.parameters.length === 0 ? input : fields
  if (!hasQuery(mapping)) return { verb: mapping.verb, path: place, body: bodyOf(whole, encode) }
  return { verb: mapping.verb, path: place + queryOf(fields), body: undefined }
}

function take(fields: Record<string, unknown>, parameter: string): string {
  const value = fields[parameter]
  delete fields[parameter]
  return encodeURIComponent(value === undefined ? '' : toText(value))
}

function bodyOf(input: unknown, encode: Encode): string | undefined {
  return input === undefined ? undefined : encode(input)
}

function queryOf(fields: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) query.append(key, toText(value))
  return query.size === 0 ? '' : `?${query.toString()}`
}
