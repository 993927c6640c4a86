/** tRPC 11 with its own server, or as a Fastify plugin (`ON=fastify`). */
import http, { type RequestListener } from 'node:http'
import Fastify, { type FastifyPluginCallback } from 'fastify'
import { loadPeerPackage } from '../peer-package.ts'
import { constant, limitOf, stored, type Product } from './catalog.ts'

interface Trpc {
  initTRPC: { create: () => { procedure: Procedure; router: (procedures: object) => object } }
}

interface Procedure {
  input(parse: (input: unknown) => number): {
    mutation(resolve: (call: { input: number }) => { products: Product[] }): object
  }
}

const { initTRPC } = loadPeerPackage('@trpc/server') as Trpc
const { procedure, router: toRouter } = initTRPC.create()
const call = (read: (limit: number) => Product[]) =>
  procedure.input(limitOf).mutation(({ input }) => ({ products: read(input) }))
const router = toRouter({ constant: call(constant), stored: call(stored) })
const where = { port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' }
await (process.env['ON'] === 'fastify' ? onFastify() : standalone())

async function standalone(): Promise<void> {
  const { createHTTPHandler } = loadPeerPackage('@trpc/server/adapters/standalone') as {
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
  const { fastifyTRPCPlugin } = loadPeerPackage('@trpc/server/adapters/fastify') as {
    fastifyTRPCPlugin: FastifyPluginCallback<{ prefix: string; trpcOptions: { router: object } }>
  }
  const app = Fastify()
  app.get('/ready', async () => 'ready')
  await app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router } })
  await app.listen(where)
}
