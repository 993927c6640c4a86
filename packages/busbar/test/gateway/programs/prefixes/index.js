/**
 * Says what each kind of program sees of a request's path. `OWN_CLASSES`: its server makes objects
 * of its own.
 */
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import fastify from 'fastify'

class OwnRequest extends IncomingMessage {}
class OwnResponse extends ServerResponse {}
const classes = process.env.OWN_CLASSES ? { IncomingMessage: OwnRequest, ServerResponse: OwnResponse } : {}

const prefixOf = ({ headers }) => headers['x-forwarded-prefix'] ?? null

const router = express.Router()
router.get('/*path', (req, res) => {
  const { url, originalUrl, baseUrl } = req
  res.json({ url, originalUrl, baseUrl, prefix: prefixOf(req) })
})
const expressApp = express().use('/express', router)

const fastifyApp = fastify()
fastifyApp.get('/fastify/*', ({ url, originalUrl, raw }) => ({ url, originalUrl, prefix: prefixOf(raw) }))
await fastifyApp.ready()

/** As GraphQL Yoga and React Router find the path that they are asked for. */
const graphql = (req, res) => {
  const { pathname } = new URL(req.originalUrl || req.url, 'http://any')
  res.writeHead(pathname === '/graphql' ? 200 : 404).end()
}

const plain = (req, res) => res.end(JSON.stringify(seenBy(req)))
const seenBy = (req) => ({ url: req.url, originalUrl: req.originalUrl, prefix: prefixOf(req) })
const listeners = { express: expressApp, fastify: fastifyApp.routing, graphql }

createServer(classes, (req, res) => (listeners[/^\/(\w+)/.exec(req.url)?.[1]] ?? plain)(req, res))
  .on('upgrade', (req, socket) =>
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: seen\r\n\r\n${JSON.stringify(seenBy(req))}`,
    ),
  )
  .listen(process.env.PORT ?? 0, '127.0.0.1')
