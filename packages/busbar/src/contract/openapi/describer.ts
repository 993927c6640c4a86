import type { Schema } from '../schema.ts'
import { toJsonSchema, type Converters, type Side } from './json-schema.ts'
import { Schemas } from './schemas.ts'
import type { JsonSchema } from './types.ts'

/** Describes schemas for one document, and collects notes about what it could not describe. */
export class Describer {
  readonly schemas = new Schemas()
  readonly notes: string[] = []
  readonly #converters: Converters
  readonly #adapt: (document: JsonSchema) => JsonSchema
  /** Parts in progress: a map may contain maps of its own kind. */
  readonly #open = new Set<unknown>()

  /** `adapt` changes each document before its parts get names. */
  constructor(converters: Converters, adapt = (document: JsonSchema): JsonSchema => document) {
    this.#converters = converters
    this.#adapt = adapt
  }

  /**
   * `subject` names the schema in notes. Returns a schema that accepts anything if it cannot be
   * described.
   */
  describe(schema: Schema, side: Side, subject: string): JsonSchema {
    if (this.#open.has(schema)) return {}
    this.#open.add(schema)
    try {
      const nested = (part: unknown): JsonSchema => this.describe(part as Schema, side, subject)
      const { document, missing } = toJsonSchema(schema, side, nested, this.#converters)
      if (document !== undefined) return this.schemas.add(this.#adapt(document), subject, side)
      this.#note(`${subject} ${missing}: the document accepts any value there.`)
      return {}
    } finally {
      this.#open.delete(schema)
    }
  }

  #note(note: string): void {
    if (!this.notes.includes(note)) this.notes.push(note)
  }
}
