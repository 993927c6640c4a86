/** Operations that call a service. */
import * as z from 'zod'
import { isUtf8 } from 'node:buffer'
import { request, validateHeaderName, validateHeaderValue, type IncomingMessage } from 'node:http'
import { BusbarError } from '../../../contract/errors.ts'
import { connectToService } from '../../../shared/calls/forward-request.ts'
import type { CallResult } from '../../../shared/worker-tasks.ts'
import { knownService, servingWorker } from './serving-worker.ts'
import { defineJson, type OperationContext } from './operation.ts'

/** Bytes of a response, and values of a stream, that an answer can hold. */
const maxBody = 8 * 1024 ** 2
const maxValues = 1000

const timeout = z.int().min(1).max(3_600_000).default(30_000).meta({ description: 'milliseconds' })
const encoding = z.enum(['utf8', 'base64']).default('utf8')

const injected = z.strictObject({
  service: z.string(),
  method: z
    .string()
    .regex(/^(?!CONNECT$)[A-Z]+$/, 'it is upper-case letters, and CONNECT opens a tunnel, which cannot be shown')
    .default('GET'),
  path: z
    .string()
    .regex(/^\/[!-~]*$/)
    .meta({ description: 'with its query' }),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
  encoding: encoding.meta({ description: 'of the body' }),
  timeout,
})

export const injectRequest = defineJson({
  name: 'injectRequest',
  method: 'POST',
  path: '/services/{service}/inject',
  summary: 'Sends one HTTP request to a service, as other services do, whether or not it has a route.',
  input: injected,
  output: z.object({
    status: z.int(),
    statusText: z.string(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    body: z.string(),
    encoding,
  }),
  async handle(input, context) {
    knownService(context.running.app, input.service)
    const response = await send(input, context)
    const body = await readBody(response, input.service)
    const isText = isUtf8(body)
    return {
      status: response.statusCode!,
      statusText: response.statusMessage!,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, value!])),
      ...(isText ? ({ body: body.toString(), encoding: 'utf8' } as const) : base64Of(body)),
    }
  },
})

export const callMethod = defineJson({
  name: 'callMethod',
  method: 'POST',
  path: '/services/{service}/call',
  summary:
    'Calls a method of a typed service, as a client from outside does. Errors that its contract declares are problems with its status and code.',
  input: z.strictObject({
    service: z.string(),
    method: z.string(),
    input: z.unknown().optional().meta({ description: 'of a class: the list of arguments' }),
    timeout,
  }),
  output: z.union([
    z.object({ kind: z.literal('fn'), result: z.unknown() }),
    z.object({
      kind: z.literal('stream'),
      values: z.array(z.unknown()),
      ended: z.boolean().meta({ description: `false if it has more than ${maxValues} values` }),
    }),
  ]),
  async handle({ service, method, input, timeout }, context) {
    const worker = servingWorker(service, undefined, context)
    if (worker.spec.kind === 'command')
      throw new BusbarError('OPERATION_UNSUPPORTED', {
        message: `'${service}' is a command and has no methods`,
        hint: `Run busbar inject ${service} GET / to send it a request.`,
        service,
      })
    const task = { kind: 'call', service, method, input, timeout, maxValues } as const
    const result = (await worker.perform(task)) as CallResult
    if (result.kind !== 'failed')
      return { ...result } as Exclude<CallResult, { kind: 'failed' }> & { values: unknown[] }
    const { code, message, status, data } = result
    throw new BusbarError<string>(code, { message, service, data }, { status })
  },
})

async function send(input: z.output<typeof injected>, { running, signal }: OperationContext): Promise<IncomingMessage> {
  const { service, method, path, body, encoding, timeout } = input
  const content = body === undefined ? undefined : Buffer.from(body, encoding)
  const headers: Record<string, string | number> = {
    host: `${service}.internal`,
    connection: 'close',
    ...checked(input),
  }
  if (content !== undefined) headers['content-length'] = content.length
  const limit = AbortSignal.timeout(timeout)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const createConnection = () => connectToService(running.calls, service)
  request({ method, path, headers, createConnection, signal: AbortSignal.any([limit, signal]) })
    .once('response', resolve)
    .on('error', reject)
    .end(content)
  try {
    return await promise
  } catch (cause) {
    if (limit.aborted)
      throw new BusbarError('DEADLINE_EXCEEDED', {
        message: `'${service}' did not answer within ${timeout} ms`,
        service,
      })
    const message = `the request to '${service}' got no answer: ${(cause as Error).message}`
    throw new BusbarError('SERVICE_UNAVAILABLE', { message, service, cause })
  }
}

function checked({ headers }: z.output<typeof injected>): Record<string, string> {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  } catch (error) {
    throw new BusbarError('INPUT_INVALID', { message: (error as Error).message, data: { issues: [] } })
  }
}

function base64Of(body: Buffer): { body: string; encoding: 'base64' } {
  return { body: body.toString('base64'), encoding: 'base64' }
}

async function readBody(response: IncomingMessage, service: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if ((size += chunk.length) > maxBody) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw new BusbarError('SERVICE_HANGUP', { message: `'${service}' broke off its response`, service, cause })
  }
  if (size <= maxBody) return Buffer.concat(chunks)
  throw new BusbarError('BODY_TOO_LARGE', {
    message: `the response of '${service}' is larger than ${maxBody} bytes, which inject can show`,
    hint: 'Call the service from a program of the app, or through the gateway.',
    service,
  })
}
