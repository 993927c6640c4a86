import type { Schema } from '../schema.ts'
import { write, type Converters, type Side } from './libraries.ts'
import { Schemas } from './schemas.ts'
import type { JsonSchema } from './types.ts'

/** Says what schemas are, for one document, and keeps what could not be said. */
export class Describer {
  readonly schemas = new Schemas()
  readonly notes: string[] = []
  readonly #converters: Converters
  /** Parts that are being described: a map may hold maps of its own kind. */
  readonly #open = new Set<unknown>()

  constructor(converters: Converters) {
    this.#converters = converters
  }

  /** `subject`: whose schema it is, for notes. Anything goes where nothing can be said. */
  describe(schema: Schema, side: Side, subject: string): JsonSchema {
    if (this.#open.has(schema)) return {}
    this.#open.add(schema)
    try {
      const nested = (part: unknown): JsonSchema => this.describe(part as Schema, side, subject)
      const { document, missing } = write(schema, side, nested, this.#converters)
      if (document !== undefined) return this.schemas.add(document, subject, side)
      this.#note(`${subject} ${missing}: anything may stand there.`)
      return {}
    } finally {
      this.#open.delete(schema)
    }
  }

  #note(note: string): void {
    if (!this.notes.includes(note)) this.notes.push(note)
  }
}
