import { errorTable, type ErrorCode } from '../errors.ts'
import { problemType, titleOf } from '../http/problem.ts'
import type { ErrorSpec } from '../method.ts'
import type { JsonSchema } from './types.ts'

/** Contracts cannot use such names: those of their own parts never have a dot after `busbar`. */
export const problemName = 'busbar.Problem'
const problem = { $ref: `#/components/schemas/${problemName}` }

/** RFC 9457. */
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, as text.' },
    code: { type: 'string', description: 'What happened, as a machine-readable code.' },
    service: { type: 'string' },
    data: { description: 'Machine-readable details, depending on the code.' },
  },
  required: ['title', 'status', 'detail', 'code'],
}

const issues: JsonSchema = {
  type: 'object',
  properties: {
    issues: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'array', items: { type: ['string', 'integer'] } },
          message: { type: 'string' },
        },
        required: ['path', 'message'],
      },
    },
  },
  required: ['issues'],
}

const retryAfter = {
  'retry-after': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
}

interface CommonFailure {
  readonly codes: readonly ErrorCode[]
  readonly description: string
  readonly data?: JsonSchema
  readonly headers?: object
}

/** Failures that any method may have, whatever its contract declares. */
const standing: readonly CommonFailure[] = [
  { codes: ['REQUEST_MALFORMED'], description: 'The request or its body is malformed.' },
  {
    codes: ['UNAUTHENTICATED'],
    description: 'The service requires authentication.',
    headers: { 'www-authenticate': { schema: { type: 'string' } } },
  },
  { codes: ['FORBIDDEN'], description: 'The caller is not permitted to do this.' },
  { codes: ['METHOD_UNKNOWN', 'ROUTE_NOT_FOUND'], description: 'No service or method has this path.' },
  { codes: ['BODY_TOO_LARGE'], description: 'The input is too large.' },
  { codes: ['MEDIA_TYPE_UNSUPPORTED'], description: 'The input is not application/json.' },
  { codes: ['INPUT_INVALID'], description: 'The input is invalid: each issue with its path.', data: issues },
  {
    codes: ['INTERNAL'],
    description: 'The service failed. Its log has the cause under this id.',
    data: { type: 'object', properties: { id: { type: 'string' } } },
  },
  {
    codes: ['SERVICE_HANGUP', 'WORKER_DIED', 'LINK_LOST'],
    description: 'The service stopped, or its connection was lost, before it answered.',
  },
  {
    codes: ['RESOURCE_EXHAUSTED', 'SERVICE_UNAVAILABLE'],
    description: 'The service is overloaded or unavailable at the moment.',
    headers: retryAfter,
  },
  { codes: ['DEADLINE_EXCEEDED', 'RESPONSE_TIMEOUT'], description: 'The response took too long.' },
]

/** Statuses that only occur for a method with an input, or with a body. */
const ofInputs = new Set([statusOf('INPUT_INVALID')])
const ofBodies = new Set([statusOf('BODY_TOO_LARGE'), statusOf('MEDIA_TYPE_UNSUPPORTED')])

export interface RequestParts {
  readonly hasInput: boolean
  readonly hasBody: boolean
}

const byStatus: ReadonlyMap<number, CommonFailure> = new Map(standing.map((one) => [statusOf(one.codes[0]!), one]))

/** The shared responses, as components. */
export function problemResponses(): Readonly<Record<string, object>> {
  return Object.fromEntries([...byStatus].map(([status, one]) => [responseName(status), responseOf(one)]))
}

/** All failures of a method: the common ones, and those that it declares, with their data. */
export function describeFailures(
  errors: Readonly<Record<string, ErrorSpec>>,
  { hasInput, hasBody }: RequestParts,
  dataOf: (code: string, spec: ErrorSpec) => JsonSchema | undefined,
): Record<string, object> {
  const declared = Map.groupBy(Object.entries(errors), ([, { status }]) => status)
  const statuses = new Set([...byStatus.keys(), ...declared.keys()])
  const failures: Record<string, object> = {}
  for (const status of [...statuses].toSorted((one, other) => one - other)) {
    const own = declared.get(status) ?? []
    if (own.length > 0) failures[status] = declaredResponse(status, own, dataOf)
    else if ((hasInput || !ofInputs.has(status)) && (hasBody || !ofBodies.has(status)))
      failures[status] = { $ref: `#/components/responses/${responseName(status)}` }
  }
  return failures
}

function declaredResponse(
  status: number,
  errors: readonly (readonly [string, ErrorSpec])[],
  dataOf: (code: string, spec: ErrorSpec) => JsonSchema | undefined,
): object {
  const known = byStatus.get(status)
  const schemas = errors.map(([code, spec]) => problemOf([code], dataOf(code, spec)))
  if (known !== undefined) schemas.push(problemOf(known.codes, known.data))
  const names = errors.map(([code]) => `\`${code}\``).join(', ')
  const description = known === undefined ? names : `${names}; or: ${known.description}`
  return { description, ...content(schemas.length === 1 ? schemas[0]! : { oneOf: schemas }) }
}

function responseOf({ codes, description, data, headers }: CommonFailure): object {
  return { description, ...(headers !== undefined && { headers }), ...content(problemOf(codes, data)) }
}

function problemOf(codes: readonly string[], data: JsonSchema | undefined): JsonSchema {
  const code = codes.length === 1 ? { const: codes[0] } : { enum: codes }
  const properties = { code, ...(data !== undefined && { data }) }
  return { allOf: [problem], properties, ...(data !== undefined && { required: ['data'] }) }
}

function content(schema: JsonSchema): object {
  return { content: { [problemType]: { schema } } }
}

function responseName(status: number): string {
  return `busbar.${titleOf(status).replaceAll(' ', '')}`
}

function statusOf(code: ErrorCode): number {
  return errorTable[code].status
}
