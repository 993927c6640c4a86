/** A worker in which the probe of exchanges fails gets calls of workers in which it passes. */
import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RemoteEndpoint } from '../../../src/mesh/endpoint.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { memoryPipes } from '../../../src/mesh/links/memory.ts'
import { Router } from '../../../src/mesh/router.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/served-instance.ts'
import { unless } from '../../support/accelerated.ts'
import { TestEndpoint } from '../../support/endpoint.ts'
import { open, send } from '../../support/exchange.ts'
import { answerer, nobody } from '../../support/linked.ts'

const over = { code: 'LINK_LOST', message: 'the test is over' } as const

function behindText(instance: TestEndpoint): RemoteEndpoint & Disposable {
  const router = new Router(['callee'])
  router.add(instance)
  const mesh = { router, maxHops: 8 }
  const [near, far] = memoryPipes()
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

describe('an exchange with a worker that makes none', { skip: unless('exchange') }, () => {
  test('is answered as text', async () => {
    await using instance = new TestEndpoint('callee', ({ method, url }, response) => response.end(`${method} ${url}`))
    using endpoint = behindText(instance)
    const { status, body } = await send(endpoint, { path: '/a?b' })
    equal(`${status} ${body}`, '200 GET /a?b')
  })

  test('passes a streamed body on, and trailers back', async () => {
    await using instance = new TestEndpoint('callee', (request, response) => {
      response.writeHead(200, { Trailer: 'x-end' })
      response.addTrailers({ 'x-end': 'yes' })
      request.pipe(response)
    })
    using endpoint = behindText(instance)
    const call = open(endpoint, { method: 'POST', streamed: true })
    call.exchange!.write('one ')
    call.exchange!.write('two')
    call.exchange!.end()
    const { body, trailers } = await call.answer()
    equal(`${body} ${trailers['x-end']}`, 'one two yes')
  })
})
