import type { HttpOutcome, StreamResponse } from '../../../contract/http/responder.ts'
import type { HttpRequestBody, HttpHandler } from '../../../contract/http/http-handler.ts'
import type { RouteMatch } from '../../../contract/http/mapping/method-routes.ts'
import { openStream } from '../../../contract/http/stream-body.ts'
import { hasBody } from '../read-body.ts'
import { readableOf } from './fastify-stream.ts'
import type { FailedCalls } from './fastify-failures.ts'
import { methodParameter, type ServiceRoute } from './fastify-routes.ts'
import type { FastifyReply, FastifyRequest } from './fastify-types.ts'

/**
 * Makes the requested call and sends its result. Rejects if the call fails. A failure while the
 * result is serialized is recorded in `failed`.
 */
export async function answerCall(
  handler: HttpHandler,
  route: ServiceRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  failed: FailedCalls,
): Promise<FastifyReply> {
  const { method: verb, url, headers } = request
  const found = foundBy(route, request)
  // As in every server, an empty segment is not a value.
  if (Object.values(found.parameters ?? {}).includes('')) {
    reply.callNotFound()
    return reply
  }
  const routed = handler.routeTo({ verb, url, headers }, found)
  const made = Promise.withResolvers<HttpOutcome | StreamResponse>()
  const call = await handler.begin(routed, bodyOf(request), {
    answer: made.resolve as never,
    outcome: made.resolve,
    stream: made.resolve,
  })
  if (reply.raw.closed) call.abandon()
  else reply.raw.once('close', () => call.abandon())
  const answer = await made.promise
  return 'stream' in answer ? await sendStream(answer, reply) : sendOutcome(answer, reply, failed)
}

function foundBy({ name, mapping }: ServiceRoute, { params }: FastifyRequest): RouteMatch {
  const texts = params as Readonly<Record<string, string>>
  if (mapping === undefined) return { name: name ?? texts[methodParameter]!, mapping, parameters: undefined }
  const parameters = Object.fromEntries(mapping.parameters.map((parameter) => [parameter, texts[parameter]!]))
  return { name: name!, mapping, parameters }
}

/**
 * The body after all hooks. Without a body, Fastify 4 sets null, which may also be the JSON value.
 */
function bodyOf({ body, raw }: FastifyRequest): HttpRequestBody {
  if (body === undefined || (body === null && !hasBody(raw))) return undefined
  return { value: body }
}

function sendOutcome(outcome: HttpOutcome, reply: FastifyReply, failed: FailedCalls): FastifyReply {
  reply.headers(outcome.headers)
  if ('error' in outcome) throw outcome.error
  const { status, result, encode } = outcome
  reply.code(status)
  if (result === undefined) return reply.send()
  reply.headers({ 'content-type': 'application/json' })
  if (looksLikeBytes(result)) return reply.serializer(String).send(encode(result))
  return reply.serializer((payload) => failed.within(() => encode(payload))).send(result)
}

/** Fastify would send these as they are, but the result of a call is JSON. */
function looksLikeBytes(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false
  const { buffer, pipe, getReader } = result as { buffer?: unknown; pipe?: unknown; getReader?: unknown }
  return buffer instanceof ArrayBuffer || typeof pipe === 'function' || typeof getReader === 'function'
}

async function sendStream(stream: StreamResponse, reply: FastifyReply): Promise<FastifyReply> {
  const opened = await openStream(stream)
  if (!('error' in opened)) return reply.code(200).headers(opened.headers).send(readableOf(stream, opened.first))
  reply.headers(stream.stream.call.headers ?? {})
  throw opened.error
}
