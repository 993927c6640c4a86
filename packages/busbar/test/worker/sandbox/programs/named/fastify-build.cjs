const fastify = require('fastify')

exports.build = (options) => fastify(options).get('/', async () => ({ hello: 'fastify-build' }))
