/**
 * `busbar/adapters`: typed services inside an existing program. A `node:http` listener is also a
 * handler of Express and Connect: `app.use('/api', nodeListener(catalog))`, which strips the
 * prefix.
 */
export { nodeListener, type AdapterOptions, type NodeListener } from './node.ts'
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from '../../../contract/http/fetch-handler.ts'
export { fastifyPlugin } from './fastify.ts'
