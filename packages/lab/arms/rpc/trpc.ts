/** tRPC 11: with the server that it brings, or as a plugin of Fastify (`ON=fastify`). */
import http, { type RequestListener } from 'node:http'
import Fastify, { type FastifyPluginCallback } from 'fastify'
import { peer } from '../peer.ts'
import { constant, limitOf, stored, type Product } from './catalog.ts'

interface Trpc {
  initTRPC: { create: () => { procedure: Procedure; router: (procedures: object) => object } }
}

interface Procedure {
  input(parse: (input: unknown) => number): {
    mutation(resolve: (call: { input: number }) => { products: Product[] }): object
  }
}

const { initTRPC } = peer('@trpc/server') as Trpc
const { procedure, router: toRouter } = initTRPC.create()
const call = (read: (limit: number) => Product[]) =>
  procedure.input(limitOf).mutation(({ input }) => ({ products: read(input) }))
const router = toRouter({ constant: call(constant), stored: call(stored) })
const where = { port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' }
await (process.env['ON'] === 'fastify' ? onFastify() : standalone())

async function standalone(): Promise<void> {
  const { createHTTPHandler } = peer('@trpc/server/adapters/standalone') as {
    createHTTPHandler: (options: { router: object; basePath: string }) => RequestListener
  }
  const handle = createHTTPHandler({ router, basePath: '/trpc/' })
  http
    .createServer((request, response) => {
      if (request.url === '/ready') response.end('ready')
      else handle(request, response)
    })
    .listen(where)
}

async function onFastify(): Promise<void> {
  const { fastifyTRPCPlugin } = peer('@trpc/server/adapters/fastify') as {
    fastifyTRPCPlugin: FastifyPluginCallback<{ prefix: string; trpcOptions: { router: object } }>
  }
  const app = Fastify()
  app.get('/ready', async () => 'ready')
  await app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router } })
  await app.listen(where)
}
