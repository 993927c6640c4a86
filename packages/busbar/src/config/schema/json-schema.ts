import * as z from 'zod'
import { appSchema } from './app-schema.ts'

/** The subset of JSON Schema that the config's schema uses. */
export interface SchemaNode {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  /** True for a secret, which messages do not show. */
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | false
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly minimum?: number
  readonly maximum?: number
}

/**
 * The JSON Schema with which editors check a `busbar.config.json`: `dist/busbar.schema.json` of the
 * package. Draft 7, since all editors read it.
 */
export function createJsonSchema(): SchemaNode {
  return z.toJSONSchema(appSchema, { io: 'input', target: 'draft-7' }) as SchemaNode
}

let root: SchemaNode | undefined

/** The schema of the value at `path`. Undefined for an unknown key. */
export function nodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  root ??= createJsonSchema()
  let node: SchemaNode | undefined = root
  for (const key of path) node = node && childOf(node, key)
  return node
}

/** The keys that the object at `path` may have. Empty if users choose them. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const node = nodeAt(path)
  return Object.keys((node && objectOf(node))?.properties ?? {})
}

export interface SchemaKey {
  /** For example `services.<name>.path`. */
  readonly path: string
  readonly node: SchemaNode
}

/** All keys, in the order of the schema. */
export function* allKeys(node: SchemaNode = createJsonSchema(), above = ''): Generator<SchemaKey> {
  const object = objectOf(node)
  for (const [key, child] of Object.entries(object?.properties ?? {})) {
    const path = above === '' ? key : `${above}.${key}`
    yield { path, node: child }
    yield* allKeys(child, path)
  }
  // For keys that users choose, only values with a description are listed.
  const values = object?.additionalProperties
  if (!values || values.description === undefined) return
  yield { path: `${above}.<name>`, node: values }
  yield* allKeys(values, `${above}.<name>`)
}

function childOf(node: SchemaNode, key: PropertyKey): SchemaNode | undefined {
  if (typeof key === 'number') return node.items
  const object = objectOf(node)
  if (object?.properties && Object.hasOwn(object.properties, key)) return object.properties[String(key)]
  return object?.additionalProperties || undefined
}

/** At most one branch of a union is an object. */
function objectOf(node: SchemaNode): SchemaNode | undefined {
  const branches = node.anyOf ?? [node]
  return branches.find((branch) => branch.properties !== undefined || branch.additionalProperties !== undefined)
}
