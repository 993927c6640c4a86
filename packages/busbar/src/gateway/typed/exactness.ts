import type { Schema } from '../../contract/schema.ts'

export type Exactness = (value: unknown) => boolean

/**
 * Whether a value is already what its schema would make of it, so that the schema need not be asked: Zod copies all that it
 * checks, which for ten objects of five fields takes 1.3 µs, and this 0.5. `false` says nothing: then the schema is asked.
 * Undefined where a schema is not of Zod 4, or has a part of which it is not known here that it changes nothing.
 */
export function exactnessOf(schema: Schema): Exactness | undefined {
  const writer = new Writer()
  try {
    const test = writer.test(schema, 'value')
    const code = [...writer.functions, `return (value) => ${test}`].join('\n')
    // oxlint-disable-next-line no-implied-eval -- made of the words below, of numbers, and of names that JSON.stringify has quoted
    return new Function('sets', code)(writer.sets) as Exactness
  } catch (thrown) {
    if (thrown === notKnown) return undefined
    throw thrown
  }
}

/** What Zod keeps of a schema for libraries that read it (zod.dev/library-authors), as far as it is read here. */
interface Definition {
  readonly type: string
  readonly checks?: readonly { readonly _zod: { readonly def: CheckDefinition } }[]
  readonly coerce?: boolean
  readonly check?: string
  readonly format?: string
  readonly shape?: Readonly<Record<string, unknown>>
  readonly catchall?: unknown
  readonly element?: unknown
  readonly innerType?: unknown
  readonly values?: readonly unknown[]
  readonly entries?: Readonly<Record<string, unknown>>
}

interface CheckDefinition {
  readonly check: string
  readonly value?: unknown
  readonly inclusive?: boolean
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** Thrown by whatever meets a part that it does not know. */
const notKnown = new Error('a part of a schema that is not known here')

/** Writes a test as an expression, and a function for each kind of object and list. */
class Writer {
  readonly functions: string[] = []
  /** Of enumerations: what is one of them. */
  readonly sets: ReadonlySet<unknown>[] = []
  readonly #names = new Map<unknown, string>()

  /** `of`: a name. */
  test(schema: unknown, of: string): string {
    const def = definitionOf(schema)
    const checks = (def.checks ?? []).map(({ _zod }) => checkTest(_zod.def, of))
    return [this.#kind(schema, def, of), ...checks].join(' && ')
  }

  #kind(schema: unknown, def: Definition, of: string): string {
    const { type, innerType, entries, values } = def
    if (type === 'object') return this.#call(schema, of, () => this.#object(def))
    if (type === 'array') return this.#call(schema, of, () => this.#list(def))
    if (type === 'nullable') return `(${of} === null || ${this.test(innerType, of)})`
    if (type === 'optional') return `(${of} === undefined || ${this.test(innerType, of)})`
    if (type === 'enum') return this.#oneOf(Object.values(entries ?? {}), of)
    if (type === 'literal') return this.#oneOf(values ?? [], of)
    return scalarTest(def, of)
  }

  /** By name, since a schema may have itself as a part. */
  #call(schema: unknown, of: string, body: () => string): string {
    let name = this.#names.get(schema)
    if (name === undefined) {
      this.#names.set(schema, (name = `is${this.#names.size}`))
      this.functions.push(`function ${name}(value) { ${body()}; return true }`)
    }
    return `${name}(${of})`
  }

  /** It has these fields and no others, and nothing that it inherits has a say in how it is written. */
  #object({ shape, catchall }: Definition): string {
    if (catchall !== undefined && definitionOf(catchall).type !== 'never') throw notKnown
    const fields = Object.entries(shape ?? {})
    if (fields.some(([name]) => name === '__proto__')) throw notKnown
    const optional = fields.filter(([, schema]) => definitionOf(schema).type === 'optional')
    const counts = optional.map(([name]) => `Object.hasOwn(value, ${JSON.stringify(name)})`)
    return [
      "if (typeof value !== 'object' || value === null) return false",
      'const prototype = Object.getPrototypeOf(value)',
      'if (prototype !== Object.prototype && prototype !== null) return false',
      `if (Object.keys(value).length !== ${[fields.length - optional.length, ...counts].join(' + ')}) return false`,
      ...fields.map(([name, schema], at) => {
        const field = `field${at}`
        return `const ${field} = value[${JSON.stringify(name)}]; if (!(${this.test(schema, field)})) return false`
      }),
    ].join('; ')
  }

  #list({ element }: Definition): string {
    const each = `const item = value[at]; if (!(${this.test(element, 'item')})) return false`
    return `if (!Array.isArray(value)) return false; for (let at = 0; at < value.length; at++) { ${each} }`
  }

  #oneOf(values: readonly unknown[], of: string): string {
    if (values.some((value) => typeof value === 'object' || typeof value === 'bigint')) throw notKnown
    this.sets.push(new Set(values))
    return `sets[${this.sets.length - 1}].has(${of})`
  }
}

function definitionOf(schema: unknown): Definition {
  const { _zod: zod } = schema as {
    readonly _zod?: { readonly def?: Definition; readonly version?: { major?: number } }
  }
  const def = zod?.def
  if (def === undefined || zod?.version?.major !== 4) throw notKnown
  return def
}

function scalarTest({ type, coerce, check, format }: Definition, of: string): string {
  if (coerce === true) throw notKnown
  if (type === 'number' && check === 'number_format' && format === 'safeint') return `Number.isSafeInteger(${of})`
  if (check !== undefined || format !== undefined) throw notKnown
  if (type === 'string' || type === 'boolean') return `typeof ${of} === '${type}'`
  if (type === 'number') return `Number.isFinite(${of})`
  if (type === 'null') return `${of} === null`
  throw notKnown
}

/** Behind the test of the kind, so that there is something to compare. */
function checkTest({ check, value, inclusive, minimum, maximum }: CheckDefinition, of: string): string {
  const orEqual = inclusive === true ? '=' : ''
  if (check === 'greater_than' && typeof value === 'number') return `${of} >${orEqual} ${value}`
  if (check === 'less_than' && typeof value === 'number') return `${of} <${orEqual} ${value}`
  if (check === 'min_length' && typeof minimum === 'number') return `${of}.length >= ${minimum}`
  if (check === 'max_length' && typeof maximum === 'number') return `${of}.length <= ${maximum}`
  throw notKnown
}
