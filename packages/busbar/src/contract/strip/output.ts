import { BusbarError } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { Unclear, type JsonSchema } from './shapes.ts'
import { stripperOf, type Strip } from './strip.ts'

/** They leave out what their objects do not declare, as Zod and Valibot do; `busbar` is a type without a schema. */
const strippers: ReadonlySet<string> = new Set(['zod', 'valibot', 'busbar'])

/** They check objects and leave everything in them. */
const checkers: ReadonlySet<string> = new Set(['arktype', 'typebox'])

/** As much of Standard Schema and of Standard JSON Schema as is asked. */
interface Standard {
  readonly vendor: string
  readonly jsonSchema?: { output?(options: { target: string; libraryOptions?: object }): unknown }
}

/**
 * The schema of what leaves a service: results, and data of errors. Its values have the fields that it declares, and no others,
 * whatever library it is of. Throws CONTRACT_INVALID where it does not say which fields these are. `what`: for the message.
 */
export function outgoing(schema: Schema, what: string): Schema {
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

/** Undefined where nothing is known of a library, and where there is nothing to strip. */
function findStrip(standard: Standard, what: string): Strip | undefined {
  const { vendor } = standard
  const document = describe(standard)
  try {
    if (document !== undefined) return stripperOf(document)
  } catch (error) {
    if (error instanceof Unclear) throw refusal(`${what} ${error.message}: ${vendor} would let all fields out`)
    throw error
  }
  if (!checkers.has(vendor)) return undefined
  throw refusal(`${what} has a schema of ${vendor} that does not say its fields as JSON Schema`)
}

function describe({ vendor, jsonSchema }: Standard): JsonSchema | undefined {
  const libraryOptions = vendor === 'arktype' ? { fallback } : undefined
  try {
    return jsonSchema?.output?.({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) }) as JsonSchema
  } catch (error) {
    if (error instanceof Unclear) throw refusal(`a result or an error's data ${error.message}`)
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
 * What ArkType asks where JSON Schema has no words. Whatever is no plain object has a type of its own, so that it is not
 * taken for an object with any fields.
 */
function fallback({ code, base, domain, unit, proto }: Fallback): object {
  if (code === 'domain') return { type: domain }
  if (code === 'unit') return { type: typeof unit }
  if (code === 'date' || (code === 'proto' && proto !== Object)) return { type: 'instance' }
  if (code === 'arrayPostfix') throw new Unclear('has a list with other items at its end')
  return base
}

function refusal(message: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message,
    hint: 'Only declared fields leave a service. Tell alternatives apart by a field with a fixed value, or let the schema refuse other fields (`+: reject`, `additionalProperties: false`).',
  })
}
