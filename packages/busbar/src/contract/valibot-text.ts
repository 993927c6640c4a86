import { digest } from './digest.ts'

/** `lazy` parts that are described at most. They may make new schemas again and again. */
const mostLazy = 1_000
/** Parts that are within each other, as far as they are described. */
const mostNested = 200

/** Fields that say the same as others, or are for people. */
const skipped: ReadonlySet<string> = new Set(['reference', 'async', 'expects', 'message'])

interface Part {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Part[]
  readonly getter?: (input: undefined) => unknown
}

/**
 * A text that is the same for schemas of Valibot which check the same, apart from functions of the
 * program. Valibot does not convert them to JSON Schema itself, but all they check are fields of
 * plain objects (its guide, "Internal architecture").
 */
export function valibotText(schema: object): string {
  return String(new Description().of(schema, []))
}

class Description {
  #lazy = 0
  /** Parts that are described, as digests: a schema may use one again and again. */
  readonly #known = new Map<object, string>()

  /** `open`: what it is a part of. A schema may contain itself. */
  of(value: unknown, open: readonly object[]): unknown {
    if (typeof value === 'function') return builtInName(value)
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
    if (value instanceof RegExp) return String(value)
    if (value instanceof Date) return value.getTime()
    const known = this.#known.get(value)
    if (known !== undefined) return known
    if (open.includes(value)) return `part of ${open.length - open.indexOf(value)}`
    if (open.length > mostNested) return '…'
    const inside = [...open, value]
    if (Array.isArray(value) || value instanceof Set || value instanceof Map)
      return Array.from(value as Iterable<unknown>, (one) => this.of(one, inside))
    if (!isPart(value)) return this.#ofFields(Object.entries(value), inside)
    const described = digest(JSON.stringify(this.#ofPart(value, inside)))
    this.#known.set(value, described)
    return described
  }

  #ofPart(part: Part, inside: readonly object[]): unknown {
    if (part.pipe === undefined && part.getter !== undefined) return this.#ofLazy(part.getter, inside)
    const { pipe: [first, ...rest] = [] } = part
    // A pipe has the fields of its first schema, too.
    const own = Object.entries(part).filter(
      ([key, value]) =>
        key !== 'pipe' && !skipped.has(key) && !key.startsWith('~') && value !== Reflect.get(first ?? {}, key),
    )
    if (first === undefined) return this.#ofFields(own, inside)
    const checked = rest.filter(isChecked)
    // Texts for people make a pipe, too.
    if (own.length === 0 && checked.length === 0) return this.#ofPart(first, inside)
    return [this.of([first, ...checked], inside), this.#ofFields(own, inside)]
  }

  #ofLazy(getter: (input: undefined) => unknown, inside: readonly object[]): unknown {
    if (++this.#lazy > mostLazy) return 'lazy'
    try {
      return this.of(getter(undefined), inside)
    } catch {
      // It depends on the value.
      return 'lazy'
    }
  }

  #ofFields(fields: readonly (readonly [string, unknown])[], inside: readonly object[]): unknown {
    return fields
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, this.of(value, inside)])
  }
}

function isPart(value: object): value is Part {
  const { kind, type, reference } = value as Partial<Record<string, unknown>>
  return typeof kind === 'string' && typeof type === 'string' && typeof reference === 'function'
}

/** False for titles, descriptions and the like. */
function isChecked({ kind }: Part): boolean {
  return kind !== 'metadata'
}

/** A bundler may rename those of a program. */
function builtInName(value: { readonly name: string }): string {
  const isBuiltIn = Function.prototype.toString.call(value).endsWith('{ [native code] }')
  // A bound function is one of the program, too.
  return isBuiltIn && !value.name.startsWith('bound ') ? value.name : 'function'
}
