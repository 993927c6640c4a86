import { errorTable, type ErrorCode } from '../errors.ts'
import { problemType, titleOf } from '../http/problem.ts'
import type { ErrorSpec } from '../method.ts'
import type { JsonSchema } from './types.ts'

/** Names that no contract can take: its own have no dot behind `busbar`. */
export const problemName = 'busbar.Problem'
const problem = { $ref: `#/components/schemas/${problemName}` }

/** RFC 9457. */
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, for people.' },
    code: { type: 'string', description: 'What happened, for programs.' },
    service: { type: 'string' },
    data: { description: 'More for programs, as the code says.' },
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
  'retry-after': { description: 'Seconds until it is worth asking again.', schema: { type: 'integer' } },
}

interface Standing {
  readonly codes: readonly ErrorCode[]
  readonly description: string
  readonly data?: JsonSchema
  readonly headers?: object
}

/** What every method may be answered with, whatever its contract says. */
const standing: readonly Standing[] = [
  { codes: ['REQUEST_MALFORMED'], description: 'The request or its body cannot be read.' },
  {
    codes: ['UNAUTHENTICATED'],
    description: 'The service wants to know who calls.',
    headers: { 'www-authenticate': { schema: { type: 'string' } } },
  },
  { codes: ['FORBIDDEN'], description: 'The caller is known and may not do this.' },
  { codes: ['METHOD_UNKNOWN', 'ROUTE_NOT_FOUND'], description: 'There is nothing at this path.' },
  { codes: ['BODY_TOO_LARGE'], description: 'The input is too large.' },
  { codes: ['MEDIA_TYPE_UNSUPPORTED'], description: 'The input is not application/json.' },
  { codes: ['INPUT_INVALID'], description: 'The input is not valid: every fault with its path.', data: issues },
  {
    codes: ['INTERNAL'],
    description: 'The service failed; its log has the cause under this id.',
    data: { type: 'object', properties: { id: { type: 'string' } } },
  },
  {
    codes: ['SERVICE_HANGUP', 'WORKER_DIED', 'LINK_LOST'],
    description: 'The service ended, or was cut off, before it had answered.',
  },
  {
    codes: ['RESOURCE_EXHAUSTED', 'SERVICE_UNAVAILABLE'],
    description: 'There is no room for this call, or nobody to take it, just now.',
    headers: retryAfter,
  },
  { codes: ['DEADLINE_EXCEEDED', 'RESPONSE_TIMEOUT'], description: 'The answer took too long.' },
]

/** Statuses that only a method with an input, or with a body, answers with. */
const ofInputs = new Set([statusOf('INPUT_INVALID')])
const ofBodies = new Set([statusOf('BODY_TOO_LARGE'), statusOf('MEDIA_TYPE_UNSUPPORTED')])

export interface Asked {
  readonly hasInput: boolean
  readonly hasBody: boolean
}

const byStatus: ReadonlyMap<number, Standing> = new Map(standing.map((one) => [statusOf(one.codes[0]!), one]))

/** The responses that methods refer to, as components. */
export function problemResponses(): Readonly<Record<string, object>> {
  return Object.fromEntries([...byStatus].map(([status, one]) => [responseName(status), responseOf(one)]))
}

/** All failures of a method: the standing ones, and those that it declares, with their data. */
export function failuresOf(
  errors: Readonly<Record<string, ErrorSpec>>,
  { hasInput, hasBody }: Asked,
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

function responseOf({ codes, description, data, headers }: Standing): object {
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
