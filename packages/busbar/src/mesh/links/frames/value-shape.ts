/**
 * The shape of a value: the names of its fields, in their order, and how they are nested. Values of
 * one shape differ only in their leaves: texts, numbers, booleans and nulls, and the length of each
 * list, which precedes the leaves of its elements.
 *
 *     { id: 7, items: [{ sku: 'a-1', count: 2 }] }
 *     shape   {"id":0,"items":[{"sku":0,"count":0}]}
 *     leaves  7, 1, "a-1", 2
 *
 * `JSON.parse` takes 1.4 µs for a value of 94 characters with three objects, and 0.3 µs for its
 * leaves, from which the value is made in 0.3 µs (Node 24 and 26).
 */

/** What stands in one place of all values of a shape. Undefined: a leaf. */
export type Shape = ObjectShape | ListShape | undefined

export interface ObjectShape {
  readonly keys: readonly string[]
  readonly parts: readonly Shape[]
}

/** A list of any length whose elements have one shape. */
interface ListShape {
  readonly keys: undefined
  readonly each: Shape
  /** The sample was empty, and so are all others. */
  readonly isEmpty: boolean
}

/** Levels that are looked at. Values with more have no shape. */
const maxLevels = 16

/**
 * The shape of a plain value, or of its JSON. Undefined if it has none: every object in it must
 * have fields, so that a value takes at least a leaf.
 */
export function shapeOf(value: unknown): ObjectShape | undefined {
  const shape = partOf(value, 0)
  return shape !== none && shape?.keys !== undefined ? shape : undefined
}

const none = Symbol('none')

/**
 * Names that objects inherit. `__proto__` and `constructor` are refused in all values; the others
 * cannot be assigned if a program has frozen `Object.prototype`.
 */
const inherited: ReadonlySet<string> = new Set([
  '__proto__',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
])

function partOf(value: unknown, level: number): Shape | typeof none {
  if (typeof value !== 'object' || value === null) return undefined
  if (level >= maxLevels) return none
  if (Array.isArray(value)) {
    const each = value.length === 0 ? undefined : partOf(value[0], level + 1)
    return each === none ? none : { keys: undefined, each, isEmpty: value.length === 0 }
  }
  const keys = Object.keys(value)
  if (keys.length === 0 || keys.some((key) => key.charCodeAt(0) === 0x24 || inherited.has(key))) return none
  const parts: Shape[] = []
  for (const key of keys) {
    const part = partOf((value as Record<string, unknown>)[key], level + 1)
    if (part === none) return none
    parts.push(part)
  }
  return { keys, parts }
}

/** The characters of all names of a shape. Each value of it has them. */
export function namesIn(shape: Shape): number {
  if (shape === undefined) return 0
  if (shape.keys === undefined) return namesIn(shape.each)
  let size = 0
  for (let at = 0; at < shape.keys.length; at++) size += shape.keys[at]!.length + namesIn(shape.parts[at])
  return size
}

const texts = new WeakMap<ObjectShape, string>()

/** As a frame has it: {@link shapeOf} reads it. Made once for each shape. */
export function shapeText(shape: ObjectShape): string {
  let text = texts.get(shape)
  if (text === undefined) texts.set(shape, (text = textOf(shape)))
  return text
}

function textOf(shape: Shape): string {
  if (shape === undefined) return '0'
  if (shape.keys === undefined) return shape.isEmpty ? '[]' : `[${textOf(shape.each)}]`
  return `{${shape.keys.map((key, at) => `${JSON.stringify(key)}:${textOf(shape.parts[at])}`).join(',')}}`
}

/** Makes values of their leaves. */
export class LeafReader {
  readonly #leaves: readonly unknown[]
  #at = 0

  constructor(leaves: readonly unknown[]) {
    this.#leaves = leaves
  }

  get isAtEnd(): boolean {
    return this.#at === this.#leaves.length
  }

  /** Throws {@link RangeError} if the leaves are not those of such a value. */
  read(shape: ObjectShape): Record<string, unknown> {
    const { keys, parts } = shape
    const value: Record<string, unknown> = {}
    for (let at = 0; at < keys.length; at++) {
      const part = parts[at]
      value[keys[at]!] =
        part === undefined ? this.#leaf() : part.keys === undefined ? this.#list(part) : this.read(part)
    }
    return value
  }

  #leaf(): unknown {
    const leaf = this.#leaves[this.#at++]
    if ((typeof leaf !== 'object' || leaf === null) && leaf !== undefined) return leaf
    throw new RangeError('a leaf is missing')
  }

  /** Each element takes a leaf, so no length exceeds what is left. */
  #list({ each, isEmpty }: ListShape): unknown[] {
    const length = this.#leaf() as number
    if (!Number.isSafeInteger(length) || length < 0 || length > (isEmpty ? 0 : this.#leaves.length - this.#at))
      throw new RangeError('a list has another length')
    const list: unknown[] = []
    for (let at = 0; at < length; at++)
      list.push(each === undefined ? this.#leaf() : each.keys === undefined ? this.#list(each) : this.read(each))
    return list
  }
}
