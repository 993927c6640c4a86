import type { Schema } from './schema.ts'

/** A string, not a symbol, so that two copies of this package agree on it. */
const brand = '~many'

/** The input of a method whose caller sends many values, one after the other. */
export interface Many<S extends Schema = Schema> {
  readonly [brand]: S
}

/**
 * Declares that the caller of a method sends many values: `fn({ input: many(Item) })`. The caller
 * passes an iterable, also an asynchronous one, and the method gets an async iterable. Each value
 * is validated by itself.
 */
export function many<S extends Schema>(schema: S): Many<S> {
  return { [brand]: schema }
}

/** The schema of one value. Undefined for anything else. */
export function schemaOfMany(input: unknown): Schema | undefined {
  return typeof input === 'object' && input !== null ? (input as Partial<Many>)[brand] : undefined
}
