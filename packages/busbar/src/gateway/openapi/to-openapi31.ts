import type { OpenApiDocument } from '../../contract/openapi/types.ts'

/** Values are not converted: an example may have any fields. */
const values = new Set(['const', 'enum', 'default', 'example', 'examples'])

/**
 * Converts an OpenAPI 3.0 document to 3.1, whose schemas are JSON Schema: `nullable` becomes a
 * type, and exclusive limits become numbers. Documents of 3.1 and later are not converted. Returns
 * undefined for anything else, Swagger 2 included.
 */
export function toOpenApi31(document: unknown): OpenApiDocument | undefined {
  if (!isObject(document) || !isWellFormed(document)) return undefined
  const { openapi, paths = {} } = document
  if (typeof openapi !== 'string' || !/^3\.\d/.test(openapi)) return undefined
  const own = Object.entries(paths as object).filter(([path]) => path.startsWith('/'))
  const whole = { ...document, paths: Object.fromEntries(own) } as unknown as OpenApiDocument
  return openapi.startsWith('3.0') ? (upgrade(whole) as OpenApiDocument) : whole
}

/** Checks what merging relies on: the document comes from a program and may be anything. */
function isWellFormed({ paths = {}, components = {}, tags = [], servers = [] }: Record<string, unknown>): boolean {
  const maps = [paths, components]
  const lists = [tags, servers]
  return (
    maps.every((map) => isObject(map) && Object.values(map).every(isObject)) &&
    lists.every((list) => Array.isArray(list) && list.every(isObject))
  )
}

function upgrade(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(upgrade)
  if (!isObject(part)) return part
  const entries = Object.entries(part).map(([key, value]) => [key, values.has(key) ? value : upgrade(value)])
  return withoutOldKeywords(Object.fromEntries(entries) as Record<string, unknown>)
}

/** As keywords these are `true` or `false`. A property with such a name is an object. */
function withoutOldKeywords(part: Record<string, unknown>): Record<string, unknown> {
  const { nullable, ...rest } = part
  const upgraded = typeof nullable === 'boolean' ? withNull(rest, nullable) : part
  return withLimit(withLimit(upgraded, 'minimum', 'exclusiveMinimum'), 'maximum', 'exclusiveMaximum')
}

function withNull(schema: Record<string, unknown>, nullable: boolean): Record<string, unknown> {
  if (!nullable) return schema
  const { type, enum: choices } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  const withChoice =
    Array.isArray(choices) && !choices.includes(null) ? { enum: [...(choices as unknown[]), null] } : {}
  return { ...schema, type: [type, 'null'], ...withChoice }
}

function withLimit(schema: Record<string, unknown>, limit: string, exclusive: string): Record<string, unknown> {
  const said = schema[exclusive]
  if (typeof said !== 'boolean') return schema
  const { [limit]: value, [exclusive]: _, ...rest } = schema
  return value === undefined ? rest : { ...rest, [said ? exclusive : limit]: value }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
