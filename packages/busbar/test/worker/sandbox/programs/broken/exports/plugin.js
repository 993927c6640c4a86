export default async function (fastify, options) {
  fastify.get('/', async () => 'x')
}
