import type { Contract } from '../contract.ts'
import { endTag, errorTag } from '../value/serialisable.ts'
import type { Method } from '../method.ts'
import { Describer } from './describer.ts'
import type { Converters } from './json-schema.ts'
import { describeMetadata } from './metadata.ts'
import { describeOperation } from './operation.ts'
import { problemName, problemResponses, problemSchema } from './problems.ts'
import type { OpenApiDocument, Operation, PathItem } from './types.ts'

export interface DescribeOptions extends Converters {
  /** The service's address, if it differs from the contract's name. */
  readonly name?: string | undefined
}

/** Describes a contract as an OpenAPI 3.1 document: what the service answers over HTTP. */
export function describeContract(
  contract: Contract,
  { name = contract.name, ...converters }: DescribeOptions = {},
): OpenApiDocument {
  const { docs, methods } = contract
  const describer = new Describer(converters)
  defineOwnSchemas(describer)
  const metadata = describeMetadata(contract, name, describer)
  const paths = new PathItems()
  for (const [method, spec] of Object.entries(methods))
    if (spec.takesMany === true)
      describer.notes.push(
        `${name}.${method} takes many values from its caller, which the HTTP interface does not carry.`,
      )
    else paths.add(name, method, spec, describeOperation({ service: name, describer, metadata }, method, spec))
  if (Object.keys(methods).length === 0)
    describer.notes.push(`${name} is a class without a contract: its methods are only known when they are called.`)
  return {
    openapi: '3.1.1',
    info: { title: name, version: '0.0.0', ...(docs !== undefined && { description: docs }) },
    tags: [{ name, ...(docs !== undefined && { description: docs }) }],
    paths: paths.items,
    components: {
      schemas: describer.schemas.toComponents(),
      responses: problemResponses(),
      ...metadata.components,
    },
    ...(describer.notes.length > 0 && { 'x-busbar-notes': describer.notes }),
  }
}

function defineOwnSchemas({ schemas }: Describer): void {
  const problem = schemas.define(problemName, problemSchema)
  const only = (tag: string, value: object): object => ({
    type: 'object',
    properties: { [tag]: value },
    required: [tag],
  })
  schemas.define('busbar.StreamEnd', {
    ...only(endTag, { const: true }),
    description: 'The stream is complete.',
  })
  schemas.define('busbar.StreamError', { ...only(errorTag, problem), description: 'The stream has failed.' })
}

/**
 * Paths that differ only in the names of their parameters are one path to OpenAPI; the first one's
 * names are used for all.
 */
class PathItems {
  readonly items: Record<string, PathItem> = {}
  readonly #byShape = new Map<string, string>()

  add(service: string, name: string, { http }: Method, operation: Operation): void {
    const own = http?.path ?? `/${service}/${name}`
    const shape = own.replaceAll(/\{\w+\}/g, '{}')
    const path = this.#byShape.get(shape) ?? own
    this.#byShape.set(shape, path)
    const verb = http?.verb.toLowerCase() ?? 'post'
    const item = (this.items[path] ??= {})
    // `POST /<service>/<method>` takes precedence over a mapping with the same path: see
    // `http/mapping/method-routes.ts`.
    if (Object.hasOwn(item, verb) && http !== undefined) return
    this.items[path] = {
      ...item,
      [verb]: path === own ? operation : renamed(operation, parametersOf(own), parametersOf(path)),
    }
  }
}

function parametersOf(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
}

function renamed(operation: Operation, names: readonly string[], instead: readonly string[]): Operation {
  const parameters = operation.parameters.map((one) =>
    'in' in one && one.in === 'path' ? { ...one, name: instead[names.indexOf(one.name)] ?? one.name } : one,
  )
  return { ...operation, parameters }
}
