import type { EdgeOutcome, EdgeStream } from '../../../contract/http/answering.ts'
import type { EdgeBody, HttpEdge } from '../../../contract/http/edge.ts'
import type { Found } from '../../../contract/http/paths.ts'
import { openStream } from '../../../contract/http/stream-body.ts'
import { hasBody } from '../request-body.ts'
import { readableOf } from './fastify-stream.ts'
import type { FailedCalls } from './fastify-failures.ts'
import { methodParameter, type ServiceRoute } from './fastify-routes.ts'
import type { FastifyReply, FastifyRequest } from './fastify-types.ts'

/**
 * Makes the call that a request asks for, and sends its result. Rejects with the call's failure; one that only shows when
 * the result is written is told to `failed`.
 */
export async function answerCall(
  edge: HttpEdge,
  route: ServiceRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  failed: FailedCalls,
): Promise<FastifyReply> {
  const { method: verb, url, headers } = request
  const found = foundBy(route, request)
  // An empty segment is no field, here as in every server.
  if (Object.values(found.parameters ?? {}).includes('')) {
    reply.callNotFound()
    return reply
  }
  const directed = edge.directTo({ verb, url, headers }, found)
  const made = Promise.withResolvers<EdgeOutcome | EdgeStream>()
  const call = await edge.begin(directed, bodyOf(request), {
    answer: made.resolve as never,
    outcome: made.resolve,
    stream: made.resolve,
  })
  if (reply.raw.closed) call.abandon()
  else reply.raw.once('close', () => call.abandon())
  const answer = await made.promise
  return 'stream' in answer ? await sendStream(answer, reply) : sendOutcome(answer, reply, failed)
}

function foundBy({ name, mapping }: ServiceRoute, { params }: FastifyRequest): Found {
  const texts = params as Readonly<Record<string, string>>
  if (mapping === undefined) return { name: name ?? texts[methodParameter]!, mapping, parameters: undefined }
  const parameters = Object.fromEntries(mapping.parameters.map((parameter) => [parameter, texts[parameter]!]))
  return { name: name!, mapping, parameters }
}

/** What hooks left of it. Without a body Fastify 4 has null there, which is also what JSON may say. */
function bodyOf({ body, raw }: FastifyRequest): EdgeBody {
  if (body === undefined || (body === null && !hasBody(raw))) return undefined
  return { value: body }
}

function sendOutcome(outcome: EdgeOutcome, reply: FastifyReply, failed: FailedCalls): FastifyReply {
  reply.headers(outcome.headers)
  if ('error' in outcome) throw outcome.error
  const { status, result, encode } = outcome
  reply.code(status)
  if (result === undefined) return reply.send()
  reply.headers({ 'content-type': 'application/json' })
  if (isTakenForBytes(result)) return reply.serializer(String).send(encode(result))
  return reply.serializer((payload) => failed.within(() => encode(payload))).send(result)
}

/** Fastify sends these as they are, and a call's result is JSON. */
function isTakenForBytes(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false
  const { buffer, pipe, getReader } = result as { buffer?: unknown; pipe?: unknown; getReader?: unknown }
  return buffer instanceof ArrayBuffer || typeof pipe === 'function' || typeof getReader === 'function'
}

async function sendStream(stream: EdgeStream, reply: FastifyReply): Promise<FastifyReply> {
  const opened = await openStream(stream)
  if (!('error' in opened)) return reply.code(200).headers(opened.headers).send(readableOf(stream, opened.first))
  reply.headers(stream.stream.call.headers ?? {})
  throw opened.error
}
