import type { Method } from '../method.ts'
import { encodeJson } from '../value/encode.ts'
import { hasQuery, type HttpMapping } from './mapping.ts'
import { toText } from './text-fields.ts'

/** A call as a request, without its base. */
export interface HttpRequest {
  readonly verb: string
  /** Begins with a slash; with its query. */
  readonly path: string
  readonly body: string | undefined
}

/** Throws {@link Uncarriable}. */
export function requestOf(service: string, name: string, method: Method | undefined, input: unknown): HttpRequest {
  const mapping = method?.http
  if (mapping === undefined) return { verb: 'POST', path: `/${service}/${name}`, body: encodeJson(input) }
  const fields = { ...(input as Record<string, unknown> | undefined) }
  const path = mapping.segments.map((segment) => ('text' in segment ? segment.text : take(fields, segment.parameter)))
  const place = `/${path.join('/')}`
  if (!hasQuery(mapping)) return { verb: mapping.verb, path: place, body: bodyOf(input, fields, mapping) }
  return { verb: mapping.verb, path: place + queryOf(fields), body: undefined }
}

function take(fields: Record<string, unknown>, parameter: string): string {
  const value = fields[parameter]
  delete fields[parameter]
  return encodeURIComponent(value === undefined ? '' : toText(value))
}

/** The whole input where nothing of it stands in the path: it need not be an object then. */
function bodyOf(input: unknown, fields: object, { parameters }: HttpMapping): string | undefined {
  return encodeJson(parameters.length === 0 ? input : fields)
}

function queryOf(fields: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) query.append(key, toText(value))
  return query.size === 0 ? '' : `?${query.toString()}`
}
