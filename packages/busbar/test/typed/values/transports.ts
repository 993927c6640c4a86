import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { client } from '../../../src/contract/client-entry.ts'
import { startHost, type TypedHost } from '../../../src/contract/host/typed-host.ts'
import { fetchHandler, fastifyPlugin, nodeListener } from '../../../src/gateway/typed/adapters/index.ts'
import { HttpHandler } from '../../../src/contract/http/http-handler.ts'
import { typedListener } from '../../../src/gateway/typed/request-listener.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { answerTypedCalls } from '../../../src/mesh/typed/answer-calls.ts'
import { offerTypedCalls } from '../../../src/mesh/typed/mesh-transport.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'
import { refuse } from '../../support/mesh/links.ts'
import { thread, tls, unix, type Way } from '../../support/mesh/transports.ts'
import { echo } from '../programs/values/echo/contract.ts'
import implementation from '../programs/values/echo/index.ts'

const express = createRequire(import.meta.url)('express') as () => {
  use(path: string, listener: unknown): RequestListener
}
const log = { debug() {}, info() {}, warn() {}, error() {} }

/** A client for each transport. `stack` owns its resources. */
export async function startTransports(stack: AsyncDisposableStack): Promise<Readonly<Record<string, object>>> {
  return {
    'one thread': client(echo, implementation, { clone: false, log }),
    'a link over a message port': await overLink(thread, stack),
    'a link over a Unix socket': await overLink(unix, stack),
    'a link over TLS': await overLink(tls, stack),
    'the gateway': await overGateway(stack),
    'a node listener': await serve(nodeListener(implementation, { log }), stack),
    'a fetch handler': overFetch(),
    express: await serve(express().use('/api', nodeListener(implementation, { log })), stack, '/api'),
    fastify: await overFastify(stack),
  }
}

function hosted(): Promise<TypedHost> {
  return startHost(implementation, { name: 'echo', log, clone: false, maxInFlight: 1000, client })
}

/** Gets the transport from the mesh directly: a client would look it up at its first call. */
async function overLink(way: Way, stack: AsyncDisposableStack): Promise<object> {
  const there = new Router(['echo'])
  const typed = await hosted()
  there.add(stack.use(new TestEndpoint('echo', { typed, listener: () => {} })))
  const [near, far] = await way.connect()
  const callee = createLink(far, { peer: 1, answer: answerTypedCalls({ router: there, validate: 'always' }) })
  const caller = createLink(near, { peer: 2, answer: refuse })
  const here = new Router(['echo'])
  here.addRemote({ at: 'link', service: 'echo', worker: 2, index: 0, state: 'serving', typed: true, link: caller })
  const offered = offerTypedCalls({ router: here, maxHops: 16, validate: 'always' })
  const mesh = currentTransport()
  offered[Symbol.dispose]()
  stack.defer(async () => {
    callee.close({ code: 'SERVICE_UNAVAILABLE', message: 'the test is over' })
    await caller.closed
  })
  return client(echo, mesh)
}

function currentTransport(): Parameters<typeof client>[1] {
  const hook = (globalThis as never)[Symbol.for('busbar.mesh.1')] as { transport(service: undefined): never }
  return hook.transport(undefined)
}

async function overGateway(stack: AsyncDisposableStack): Promise<object> {
  const typed = await hosted()
  const options = { maxInputSize: 1_000_000, cors: [] }
  const handler = new HttpHandler(typed, options)
  const echoed = { listener: typedListener(typed, options, handler), handler, typed }
  const gateway = stack.use(await TestGateway.start({ services: { echo: echoed }, routes: { '/api': 'echo' } }))
  return client(echo, gateway.url('/api'))
}

async function serve(listener: RequestListener, stack: AsyncDisposableStack, prefix = ''): Promise<object> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  stack.defer(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return client(echo, `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`)
}

function overFetch(): object {
  const handler = fetchHandler(implementation, { log })
  return client(echo, 'http://echo.example', { fetch: (input, init) => handler(new Request(input, init)) })
}

async function overFastify(stack: AsyncDisposableStack): Promise<object> {
  const app = Fastify()
  await app.register(fastifyPlugin(implementation, { log }) as never, { prefix: '/api' })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  stack.defer(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return client(echo, `${address}/api`)
}
