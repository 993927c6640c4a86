import type { Contract } from '../contract.ts'
import { timeoutHeader } from '../http/request-content.ts'
import type { Describer } from './describer.ts'
import { isOptional } from './input.ts'
import type { JsonSchema } from './types.ts'

/** What all operations of a service have in common besides their input. */
export interface DescribedMetadata {
  readonly parameters: readonly { readonly $ref: string }[]
  /** True if invalid metadata fails like an invalid input. */
  readonly isChecked: boolean
  readonly security?: readonly object[]
  readonly components: Readonly<Record<'parameters' | 'securitySchemes', Readonly<Record<string, object>>>>
}

const timeout = {
  name: timeoutHeader,
  in: 'header',
  required: false,
  description: 'Timeout in milliseconds: then the call ends with 504, with all calls that it made.',
  schema: { type: 'number', minimum: 0 },
}

const bearer = { type: 'http', scheme: 'bearer' }

/**
 * OpenAPI ignores parameters with these names (3.1, 4.8.12.1); other parts of the document describe
 * them.
 */
const elsewhere = new Set(['accept', 'content-type', 'authorization'])

/**
 * Describes the headers in the contract's metadata schema. `authorization` becomes a security
 * scheme.
 */
export function describeMetadata({ metadata }: Contract, name: string, describer: Describer): DescribedMetadata {
  const parameters: Record<string, object> = { 'busbar.Timeout': timeout }
  const schema = metadata === undefined ? {} : describer.describe(metadata, 'input', `${name}.metadata`)
  const { properties = {}, required = [] } = describer.schemas.resolve(schema) as Fields
  for (const [header, field] of Object.entries(properties))
    if (!elsewhere.has(header)) parameters[`${name}.${header}`] = headerOf(header, field, required.includes(header))
  const refer = (parameter: string): { $ref: string } => ({ $ref: `#/components/parameters/${parameter}` })
  const isSecured = Object.hasOwn(properties, 'authorization')
  const isAlways = required.includes('authorization') && !(metadata !== undefined && isOptional(metadata))
  return {
    isChecked: metadata !== undefined,
    parameters: Object.keys(parameters).map(refer),
    ...(isSecured && { security: [...(isAlways ? [] : [{}]), { 'busbar.Bearer': [] }] }),
    components: { parameters, securitySchemes: isSecured ? { 'busbar.Bearer': bearer } : {} },
  }
}

interface Fields {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

function headerOf(name: string, schema: JsonSchema, required: boolean): object {
  const { description } = schema as { description?: string }
  return { name, in: 'header', required, schema, ...(description !== undefined && { description }) }
}
