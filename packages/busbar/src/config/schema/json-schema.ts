import * as z from 'zod'
import { appSchema } from './schema.ts'

/** As much of a JSON Schema as ours uses. */
export interface SchemaNode {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  /** A secret: messages do not show it. */
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | false
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/** What editors check a `busbar.config.json` with: `dist/busbar.schema.json` of the package. Draft 7 is what they all read. */
export function createJsonSchema(): SchemaNode {
  return z.toJSONSchema(appSchema, { io: 'input', target: 'draft-7' }) as SchemaNode
}

let root: SchemaNode | undefined

/** What the schema says of the value at `path`; undefined where it knows no such key. */
export function nodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  root ??= createJsonSchema()
  let node: SchemaNode | undefined = root
  for (const key of path) node = node && childOf(node, key)
  return node
}

/** The keys of the object at `path`; none where it has no fixed ones. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const node = nodeAt(path)
  return Object.keys((node && objectOf(node))?.properties ?? {})
}

export interface SchemaKey {
  /** As `services.<name>.path`. */
  readonly path: string
  readonly node: SchemaNode
}

/** Every key there is, in the order of the schema. */
export function* allKeys(node: SchemaNode = createJsonSchema(), above = ''): Generator<SchemaKey> {
  const object = objectOf(node)
  for (const [key, child] of Object.entries(object?.properties ?? {})) {
    const path = above === '' ? key : `${above}.${key}`
    yield { path, node: child }
    yield* allKeys(child, path)
  }
  // Of keys that the user names, those are listed whose value has something to say.
  const named = object?.additionalProperties
  if (!named || named.description === undefined) return
  yield { path: `${above}.<name>`, node: named }
  yield* allKeys(named, `${above}.<name>`)
}

function childOf(node: SchemaNode, key: PropertyKey): SchemaNode | undefined {
  if (typeof key === 'number') return node.items
  const object = objectOf(node)
  if (object?.properties && Object.hasOwn(object.properties, key)) return object.properties[String(key)]
  return object?.additionalProperties || undefined
}

/** A union has at most one branch that is an object. */
function objectOf(node: SchemaNode): SchemaNode | undefined {
  const branches = node.anyOf ?? [node]
  return branches.find((branch) => branch.properties !== undefined || branch.additionalProperties !== undefined)
}
