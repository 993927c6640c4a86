import type { IncomingMessage, ServerResponse } from 'node:http'

/** The part of Fastify's documented API that the plug-in uses, the same in versions 4 and 5. */
export interface FastifyLike {
  readonly prefix: string
  route(options: RouteLike): unknown
  hasRoute(route: { url: string; method: RouteLike['method'] }): boolean
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: RegExp,
    options: { parseAs: 'buffer' },
    parser: (request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => void,
  ): unknown
  setErrorHandler(handler: (error: Error, request: FastifyRequest, reply: FastifyReply) => void): unknown
  addHook(name: 'onClose', hook: () => Promise<void>): unknown
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
}

export interface RouteLike {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly url: string
  readonly bodyLimit?: number
  readonly exposeHeadRoute?: boolean
  readonly config?: object
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

export interface FastifyRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly params: unknown
  readonly body: unknown
  readonly raw: IncomingMessage
  readonly routeOptions: { readonly config?: unknown }
}

export interface FastifyReply {
  readonly raw: ServerResponse
  code(status: number): this
  headers(headers: Readonly<Record<string, string>>): this
  serializer(write: (payload: any) => string): this
  send(payload?: unknown): this
  callNotFound(): unknown
}
