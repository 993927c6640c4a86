import { BusbarError } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { AmbiguousFields, type JsonSchema } from './object-shapes.ts'
import { stripperOf, type Strip } from './stripper.ts'

/** Libraries that remove undeclared fields themselves; `busbar` is a type without a schema. */
const strippers: ReadonlySet<string> = new Set(['zod', 'valibot', 'busbar'])

/** Libraries that validate objects but keep undeclared fields. */
const checkers: ReadonlySet<string> = new Set(['arktype', 'typebox'])

/** The parts of Standard Schema and Standard JSON Schema that are used here. */
interface Standard {
  readonly vendor: string
  readonly jsonSchema?: { output?(options: { target: string; libraryOptions?: object }): unknown }
}

/**
 * Wraps the schema of data that leaves a service: results, and data of errors. Undeclared fields
 * are removed, whatever library the schema comes from. Throws CONTRACT_INVALID if the declared
 * fields cannot be determined. `what` names the schema in the error.
 */
export function stripUndeclared(schema: Schema, what: string): Schema {
  const standard = schema['~standard'] as Schema['~standard'] & Standard
  if (strippers.has(standard.vendor)) return schema
  const strip = findStrip(standard, what)
  if (strip === undefined) return schema
  const validate: Schema['~standard']['validate'] = (value) => {
    const result = standard.validate(value)
    return result instanceof Promise ? result.then(pass) : pass(result)
  }
  const pass = (result: Awaited<ReturnType<typeof validate>>): typeof result =>
    result.issues === undefined ? { value: strip(result.value) } : result
  return { '~standard': { ...standard, validate } }
}

/** Undefined if the library is unknown, or if there is nothing to strip. */
function findStrip(standard: Standard, what: string): Strip | undefined {
  const { vendor } = standard
  const document = describe(standard)
  try {
    if (document !== undefined) return stripperOf(document)
  } catch (error) {
    if (error instanceof AmbiguousFields)
      throw refusal(`${what} ${error.message}: ${vendor} would not remove undeclared fields`)
    throw error
  }
  if (!checkers.has(vendor)) return undefined
  throw refusal(`${what} has a schema of ${vendor} that cannot list its fields as JSON Schema`)
}

function describe({ vendor, jsonSchema }: Standard): JsonSchema | undefined {
  const libraryOptions = vendor === 'arktype' ? { fallback } : undefined
  try {
    return jsonSchema?.output?.({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) }) as JsonSchema
  } catch (error) {
    if (error instanceof AmbiguousFields) throw refusal(`a result or an error's data ${error.message}`)
    return undefined
  }
}

interface Fallback {
  readonly code: string
  readonly base: object
  readonly domain?: string
  readonly unit?: unknown
  readonly proto?: unknown
}

/**
 * ArkType's callback for what JSON Schema cannot express. Everything that is not a plain object
 * gets a type of its own, so that it is not treated as an object with any fields.
 */
function fallback({ code, base, domain, unit, proto }: Fallback): object {
  if (code === 'domain') return { type: domain }
  if (code === 'unit') return { type: typeof unit }
  if (code === 'date' || (code === 'proto' && proto !== Object)) return { type: 'instance' }
  if (code === 'arrayPostfix') throw new AmbiguousFields('has a list with different items at its end')
  return base
}

function refusal(message: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message,
    hint: 'Only declared fields leave a service. Distinguish alternatives by a field with a fixed value, or let the schema refuse other fields (`+: reject`, `additionalProperties: false`).',
  })
}
