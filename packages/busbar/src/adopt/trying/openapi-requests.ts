/** Requests from an OpenAPI document in the folder of a service. */
import { join } from 'node:path'
import { firstExistingFile } from '../../config/file/file-lookup.ts'
import { isPlainObject } from '../../config/schema/placeholders.ts'
import { readYaml } from '../yaml-file.ts'

export interface DocumentRequests {
  /** Absolute path of the document. */
  readonly file: string
  /** Paths with queries, of GET and HEAD. */
  readonly requests: readonly { readonly method: string; readonly path: string }[]
  /** Operations that would change data, or that have a parameter without an example. */
  readonly leftOut: readonly string[]
}

const names = ['openapi', 'swagger', 'docs/openapi', 'api/openapi', 'spec/openapi', 'public/openapi', 'openapi/openapi']
const extensions = ['json', 'yaml', 'yml']
const safe = ['get', 'head'] as const
const changing = ['post', 'put', 'patch', 'delete'] as const
const maxRequests = 200

type Json = Readonly<Record<string, unknown>>

/** Undefined if there is no document. */
export async function documentRequests(folder: string): Promise<DocumentRequests | undefined> {
  const files = names.flatMap((name) => extensions.map((extension) => join(folder, `${name}.${extension}`)))
  const file = await firstExistingFile(files)
  if (file === undefined) return undefined
  // JSON is YAML.
  const document = await readYaml(file)
  return isPlainObject(document) ? { file, ...requestsOf(document) } : undefined
}

function requestsOf(document: Json): Omit<DocumentRequests, 'file'> {
  const base = basePath(document)
  const requests: { method: string; path: string }[] = []
  const leftOut: string[] = []
  for (const [template, item] of Object.entries(objectOf(document['paths']))) {
    for (const method of changing)
      if (objectOf(item)[method] !== undefined) leftOut.push(`${method.toUpperCase()} ${template}`)
    for (const method of safe) {
      const operation = objectOf(item)[method]
      if (operation === undefined) continue
      const parameters = [objectOf(item)['parameters'], objectOf(operation)['parameters']].flatMap(listOf)
      const path = fill(
        template,
        parameters.map((one) => resolveReference(one, document)),
        document,
      )
      if (path === undefined || requests.length >= maxRequests) leftOut.push(`${method.toUpperCase()} ${template}`)
      else requests.push({ method: method.toUpperCase(), path: base + path })
    }
  }
  return { requests, leftOut }
}

/** Undefined if a parameter that is required has no example. */
function fill(template: string, parameters: readonly Json[], document: Json): string | undefined {
  let path = template
  const query = new URLSearchParams()
  for (const parameter of parameters) {
    const { name, in: place, required } = parameter
    const value = exampleOf(parameter, document)
    if (place === 'path' && value !== undefined) path = path.replaceAll(`{${String(name)}}`, encodeURIComponent(value))
    else if (place === 'query' && value !== undefined && (required === true || hasExample(parameter)))
      query.set(String(name), value)
    else if (required === true) return undefined
  }
  if (path.includes('{')) return undefined
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

function hasExample({ example, examples }: Json): boolean {
  return example !== undefined || examples !== undefined
}

function exampleOf(parameter: Json, document: Json): string | undefined {
  const schema = resolveReference(parameter['schema'], document)
  const [named] = Object.values(objectOf(parameter['examples'])).map((one) => resolveReference(one, document)['value'])
  const [listed] = listOf(schema['examples'])
  const [choice] = listOf(schema['enum'])
  // Swagger 2 has these beside the name.
  const value =
    parameter['example'] ?? named ?? schema['example'] ?? listed ?? schema['default'] ?? parameter['default'] ?? choice
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? `${value}` : undefined
}

function basePath(document: Json): string {
  const [server] = listOf(document['servers'])
  const url = objectOf(server)['url'] ?? document['basePath']
  if (typeof url !== 'string' || url.includes('{')) return ''
  const path = URL.canParse(url) ? new URL(url).pathname : url
  return path.startsWith('/') ? path.replace(/\/$/, '') : ''
}

/** Only references inside the document. */
function resolveReference(value: unknown, document: Json): Json {
  const reference = objectOf(value)['$ref']
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return objectOf(value)
  const keys = reference
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return objectOf(keys.reduce<unknown>((at, key) => objectOf(at)[key], document))
}

function objectOf(value: unknown): Json {
  return isPlainObject(value) ? value : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
