/** A worker in which the exchange's probe fails gets calls from workers in which it passes. */
import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/instance/served-instance.ts'
import { unless } from '../../support/mesh/accelerators.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { open, send } from '../../support/mesh/test-call.ts'
import { answerer, nobody } from '../../support/mesh/linked-endpoint.ts'

const over = { code: 'LINK_LOST', message: 'the test is over' } as const

function textEndpoint(instance: TestEndpoint): RemoteEndpoint & Disposable {
  const router = new Router(['callee'])
  router.add(instance)
  const mesh = { router, maxHops: 8 }
  const [near, far] = loopbackTransports()
  const serving = servePrivateSockets(mesh)
  const callee = createLink(far, { peer: 1, answer: answerer(mesh) })
  const link = createLink(near, { peer: 2, answer: nobody })
  return {
    at: 'link',
    service: 'callee',
    worker: 2,
    index: 0,
    state: 'serving',
    link,
    typed: false,
    [Symbol.dispose]() {
      serving[Symbol.dispose]()
      link.close(over)
      callee.close(over)
    },
  }
}

describe('an exchange with a worker without exchanges', { skip: unless('exchange') }, () => {
  test('is answered as text', async () => {
    await using instance = new TestEndpoint('callee', ({ method, url }, response) => response.end(`${method} ${url}`))
    using endpoint = textEndpoint(instance)
    const { status, body } = await send(endpoint, { path: '/a?b' })
    equal(`${status} ${body}`, '200 GET /a?b')
  })

  test('carries a streamed body and trailers', async () => {
    await using instance = new TestEndpoint('callee', (request, response) => {
      response.writeHead(200, { Trailer: 'x-end' })
      response.addTrailers({ 'x-end': 'yes' })
      request.pipe(response)
    })
    using endpoint = textEndpoint(instance)
    const call = open(endpoint, { method: 'POST', streamed: true })
    call.exchange!.write('one ')
    call.exchange!.write('two')
    call.exchange!.end()
    const { body, trailers } = await call.answer()
    equal(`${body} ${trailers['x-end']}`, 'one two yes')
  })
})
