import { deepStrictEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { comparableHeaders, openSides, type Side, type Sides } from './support/mesh-and-tcp.ts'

/** Gateways and pages forward a service's response: the response itself, its body, or a copy. */
suite('a response of a service, passed on', () => {
  let sides: Sides
  before(async () => (sides = await openSides()))
  after(() => sides[Symbol.asyncDispose]())

  test('by Fastify', () =>
    same(async (side) => {
      const app = Fastify()
      app.get('/*', async (request, reply) => reply.send(await fetch(side.at + request.url)))
      await app.ready()
      return (request, response) => app.routing(request, response)
    }))

  test('by Hono, which has its own Response', () =>
    same((side) => {
      const app = new Hono()
      app.get('/*', (context) => fetch(side.at + context.req.path))
      return listenerOf(app)
    }))

  test('by Hono, in a response of the program', () =>
    same((side) => {
      const app = new Hono()
      app.get('/*', async (context) => {
        const answer = await fetch(side.at + context.req.path)
        return new Response(answer.body, answer)
      })
      return listenerOf(app)
    }))

  test('by Hono, which changes its headers', () =>
    same((side) => {
      const app = new Hono()
      app.use(async (context, next) => {
        await next()
        context.header('x-added', 'by a middleware')
      })
      app.get('/*', (context) => fetch(side.at + context.req.path))
      return listenerOf(app)
    }))

  async function same(create: (side: Side) => RequestListener | Promise<RequestListener>): Promise<void> {
    const mesh = await ask(await create(sides.mesh))
    deepStrictEqual(mesh, await ask(await create(sides.tcp)))
    equal(mesh.length, paths.length)
  }
})

const paths = ['/json', '/text', '/large', '/chunks', '/empty', '/headers', '/missing', '/nowhere']

async function ask(listener: RequestListener): Promise<unknown[]> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answers: unknown[] = []
  for (const path of paths) {
    const { status, headers, text } = await answerOf(at + path)
    answers.push([path, status, headers, text])
  }
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  return answers
}

async function answerOf(url: string) {
  const response = await fetch(url)
  return { status: response.status, headers: comparableHeaders(response.headers), text: await response.text() }
}

function listenerOf(app: Hono): RequestListener {
  const listener = getRequestListener(app.fetch)
  return (request, response) => void listener(request, response)
}
