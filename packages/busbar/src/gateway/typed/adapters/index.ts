/**
 * `busbar/adapters`: typed services inside a program that is there already. A `node:http` listener is a handler of Express and
 * Connect, too: `app.use('/api', nodeListener(catalog))`, which cuts the prefix off.
 */
export { nodeListener, type AdapterOptions, type NodeListener } from './node.ts'
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from '../../../contract/http/fetch-handler.ts'
export { fastifyPlugin } from './fastify.ts'
