/** The contract of `busbar/` as a Fastify plugin, in a program that is otherwise `fastify.ts`. */
import { fastifyPlugin } from 'busbar/adapters'
import Fastify from 'fastify'
import catalog from './busbar/index.ts'

const app = Fastify()
await app.register(fastifyPlugin(catalog))
await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })
