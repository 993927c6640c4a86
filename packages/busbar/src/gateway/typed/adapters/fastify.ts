import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Implementation } from '../../../contract/implementation.ts'
import { nodeListener, type AdapterOptions } from './node.ts'

/** As much of Fastify as is used, whichever version it is. */
interface FastifyLike {
  readonly prefix: string
  all(
    path: string,
    options: { onRequest(request: FastifyRequest, reply: FastifyReply, done: () => void): void },
    handler: () => Promise<void>,
  ): unknown
  addHook(name: 'onClose', hook: () => Promise<void>): unknown
}
interface FastifyRequest {
  readonly raw: IncomingMessage
}
interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** `app.register(fastifyPlugin(catalog), { prefix: '/api' })`. Taken before Fastify reads the body: the service reads it. */
export function fastifyPlugin(
  implementation: Implementation,
  options: AdapterOptions = {},
): (app: FastifyLike) => Promise<void> {
  return async (app) => {
    const listener = nodeListener(implementation, options)
    const { prefix } = app
    // Never calls `done`, by its third parameter: with a hijacked reply there is nothing that could follow.
    const onRequest = ({ raw }: FastifyRequest, reply: FastifyReply, _done: () => void): void => {
      reply.hijack()
      raw.url = raw.url!.slice(prefix.length)
      listener(raw, reply.raw)
    }
    app.all('/*', { onRequest }, async () => {})
    app.addHook('onClose', async () => await listener[Symbol.asyncDispose]())
  }
}
