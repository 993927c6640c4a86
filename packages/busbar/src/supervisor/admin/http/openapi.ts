/** The OpenAPI document of the admin API, made from its operations. */
import * as z from 'zod'
import { type JsonOperation, type Operation, defineJson } from '../operations/operation.ts'

/** `described`: called at a request, because the table lists this operation, too. */
export function openApiOperation(described: () => readonly Operation[]): JsonOperation {
  return defineJson({
    name: 'getOpenApi',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document.',
    input: z.strictObject({}),
    output: z.looseObject({}),
    handle: () => describeOperations(described()),
  }) as JsonOperation
}

type Json = Record<string, unknown>

export function describeOperations(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Busbar admin API',
      version: '1',
      description:
        "Served on each app's own admin socket, to its user alone, and on the admin port, to clients with the token. New versions only add.",
    },
    servers: [{ url: 'http://admin', description: 'over the Unix socket; any host name will do' }],
    // The socket needs no token, the port does.
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(problem, 'output') },
      responses: {
        Problem: { description: 'a problem (RFC 9457)', content: jsonContent('application/problem+json', problemRef) },
      },
    },
  }
}

const problem = z.looseObject({
  type: z.literal('about:blank'),
  status: z.int(),
  code: z.string().meta({ description: 'one of the error codes of Busbar' }),
  detail: z.string(),
  hint: z.string().optional(),
  service: z.string().optional(),
  data: z.unknown().optional(),
})

const problemRef = { $ref: '#/components/schemas/Problem' }

function describeOperation(operation: Operation): Json {
  const { name, method, path, summary, input, status = 200, isPublic = false } = operation
  const schema = schemaOf(input, 'input') as { properties?: Record<string, Json>; required?: readonly string[] }
  const fields = Object.entries(schema.properties ?? {})
  const inPath = fields.filter(([field]) => path.includes(`{${field}}`))
  const others = fields.filter(([field]) => !path.includes(`{${field}}`))
  const isRequired = (field: string): boolean => schema.required?.includes(field) === true
  const parameters = [
    ...inPath.map(([field, value]) => parameter(field, 'path', value, true)),
    ...(method === 'GET' ? others.map(([field, value]) => parameter(field, 'query', value, isRequired(field))) : []),
  ]
  return {
    operationId: name,
    summary,
    ...(isPublic && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'POST' &&
      others.length > 0 && {
        requestBody: bodyOf(Object.fromEntries(others), others.map(([field]) => field).filter(isRequired)),
      }),
    responses: {
      [status]: { description: 'success', content: contentOf(operation) },
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function parameter(name: string, place: string, { description, ...schema }: Json, required: boolean): Json {
  return { name, in: place, required, ...(description !== undefined && { description }), schema }
}

function bodyOf(properties: Readonly<Record<string, Json>>, required: readonly string[]): Json {
  const schema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
  return { required: required.length > 0, content: jsonContent('application/json', schema) }
}

function contentOf(operation: Operation): Json {
  switch (operation.answers) {
    case 'json':
      return jsonContent('application/json', schemaOf(operation.output, 'output'))
    case 'lines':
      return jsonContent('application/x-ndjson', schemaOf(operation.output, 'output'))
    case 'events':
      return jsonContent('text/event-stream', schemaOf(operation.output, 'output'))
    case 'text':
      return jsonContent(operation.type, { type: 'string' })
    case 'file':
      return jsonContent('application/octet-stream', { type: 'string', contentMediaType: 'application/octet-stream' })
  }
}

function jsonContent(type: string, schema: Json): Json {
  return { [type]: { schema } }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', reused: 'inline' })
  return rest
}
