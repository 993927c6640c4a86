import { events, ndjsonType } from '../http/stream-format.ts'
import type { Method } from '../method.ts'
import type { Describer } from './describer.ts'
import { describeInput, isOptional } from './input.ts'
import type { DescribedMetadata } from './metadata.ts'
import { describeFailures } from './problems.ts'
import { shortPath, type JsonSchema, type Operation } from './types.ts'

/** What the operations of one service have in common. */
export interface OperationContext {
  /** The service's address, also the tag. */
  readonly service: string
  readonly describer: Describer
  readonly metadata: DescribedMetadata
}

export function describeOperation(
  { service, describer, metadata }: OperationContext,
  name: string,
  method: Method,
): Operation {
  const subject = `${service}.${name}`
  const { parameters, requestBody } = describeInput(method, describer, `${subject}.input`)
  const dataOf = (code: string, { data }: Method['errors'][string]): JsonSchema | undefined =>
    data && describer.describe(data, 'output', `${subject}.${code}`)
  return {
    operationId: subject,
    tags: [service],
    ...describeDocs(method),
    ...(method.http === undefined && { [shortPath]: `/${name}` }),
    ...(metadata.security !== undefined && { security: metadata.security }),
    parameters: [...parameters, ...metadata.parameters],
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...successesOf(method, describer, `${subject}.output`),
      ...describeFailures(
        method.errors,
        { hasInput: method.input !== undefined || metadata.isChecked, hasBody: requestBody !== undefined },
        dataOf,
      ),
    },
  }
}

/** The first line of the docs is the summary. */
function describeDocs({ docs, idempotent }: Method): { summary?: string; description?: string } {
  const text = docs?.trim() ?? ''
  const [summary] = text.split('\n', 1)
  const description = [text.includes('\n') ? text : '', idempotent ? 'Idempotent: may be retried.' : '']
  const said = description.filter((part) => part !== '').join('\n\n')
  return { ...(summary !== '' && summary !== undefined && { summary }), ...(said !== '' && { description: said }) }
}

function successesOf(method: Method, describer: Describer, subject: string): Record<string, object> {
  const { kind, output, status } = method
  if (kind === 'stream')
    return { 200: streamOf(output === undefined ? {} : describer.describe(output, 'output', subject)) }
  if (output === undefined) return { [status ?? 204]: { description: 'No result.' } }
  const content = { 'application/json': { schema: describer.describe(output, 'output', subject) } }
  if (!isOptional(output)) return { [status ?? 200]: { description: 'The result.', content } }
  if (status !== undefined) return { [status]: { description: 'The result, or no content.', content } }
  return { 200: { description: 'The result.', content }, 204: { description: 'No result.' } }
}

/**
 * Neither format is a single JSON text, so the schema describes one line, or the data of one event.
 */
function streamOf(value: JsonSchema): object {
  const line = {
    anyOf: [
      value,
      { $ref: '#/components/schemas/busbar.StreamEnd' },
      { $ref: '#/components/schemas/busbar.StreamError' },
    ],
  }
  return {
    description:
      'Values as they are produced: lines of JSON, with a last line for the end or the error; or, if the request accepts them, ' +
      'server-sent events, with a last event `end` or `error`. The schema describes one line, or the data of one event.',
    content: { [ndjsonType]: { schema: line }, [events.type]: { schema: value } },
  }
}
