import { events, linesType } from '../http/events.ts'
import type { Method } from '../method.ts'
import type { Describer } from './describer.ts'
import { describeInput, isOptional } from './input.ts'
import type { DescribedMetadata } from './metadata.ts'
import { failuresOf } from './problems.ts'
import { shortPath, type JsonSchema, type Operation } from './types.ts'

/** What the operations of one service have in common. */
export interface Around {
  /** The address, which is the tag too. */
  readonly service: string
  readonly describer: Describer
  readonly metadata: DescribedMetadata
}

export function describeOperation({ service, describer, metadata }: Around, name: string, method: Method): Operation {
  const subject = `${service}.${name}`
  const { parameters, requestBody } = describeInput(method, describer, `${subject}.input`)
  const dataOf = (code: string, { data }: Method['errors'][string]): JsonSchema | undefined =>
    data && describer.describe(data, 'output', `${subject}.${code}`)
  return {
    operationId: subject,
    tags: [service],
    ...wordsOf(method),
    ...(method.http === undefined && { [shortPath]: `/${name}` }),
    ...(metadata.security !== undefined && { security: metadata.security }),
    parameters: [...parameters, ...metadata.parameters],
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...successesOf(method, describer, `${subject}.output`),
      ...failuresOf(
        method.errors,
        { hasInput: method.input !== undefined || metadata.isChecked, hasBody: requestBody !== undefined },
        dataOf,
      ),
    },
  }
}

/** The first line is the title. */
function wordsOf({ docs, idempotent }: Method): { summary?: string; description?: string } {
  const text = docs?.trim() ?? ''
  const [summary] = text.split('\n', 1)
  const description = [text.includes('\n') ? text : '', idempotent ? 'May be tried again: twice is as once.' : '']
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
  if (status !== undefined) return { [status]: { description: 'The result, or nothing.', content } }
  return { 200: { description: 'The result.', content }, 204: { description: 'No result.' } }
}

/** Neither of the two formats is one JSON text, so the schema is that of one line, or of what one event carries. */
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
      'Values as they come: lines of JSON, the last of which says how the stream ended; or, for those who accept them, ' +
      'server-sent events, where that is an event `end` or `error`. The schema is that of one line, or of the data of one event.',
    content: { [linesType]: { schema: line }, [events.type]: { schema: value } },
  }
}
