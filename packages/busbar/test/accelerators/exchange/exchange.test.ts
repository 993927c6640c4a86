import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:https'
import { describe, test } from 'node:test'
import { request as requestByUndici } from 'undici8'
import { BusbarError } from '../../../src/contract/errors.ts'
import { exchangeFault } from '../../../src/accelerators/exchange/probe.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { open, requestOf, send, TestCall } from '../../support/mesh/test-call.ts'
import { exchanges, unless } from '../../support/mesh/accelerators.ts'

describe('an exchange', { skip: unless('exchange') }, () => {
  test('works on this Node', () => {
    equal(exchangeFault(), undefined)
  })

  test('begins in a tick of its own, and delivers the response in another', async () => {
    const order: string[] = []
    await using endpoint = new TestEndpoint('callee', (_, response) => {
      order.push('program begins')
      response.end('x')
      order.push('program ends')
    })
    const call = open(endpoint)
    call.on('head', () => order.push('head'))
    order.push('opened')
    await call.answer()
    deepEqual(order, ['opened', 'program begins', 'program ends', 'head'])
  })

  test('calls of one turn reach the program in order', async () => {
    const paths: string[] = []
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      paths.push(request.url!)
      response.end()
    })
    const wanted = Array.from({ length: 100 }, (_, n) => `/${n}`)
    await Promise.all(wanted.map((path) => send(endpoint, { path })))
    deepEqual(paths, wanted)
  })

  test('does not starve the event loop when each call causes the next', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    let over = false
    setTimeout(() => (over = true), 1)
    while (!over) await send(endpoint)
  })

  test('that is aborted before it begins never reaches the program', async () => {
    let calls = 0
    await using endpoint = new TestEndpoint('callee', (_, response) => {
      calls++
      response.end()
    })
    const call = open(endpoint)
    const failed = rejects(call.answer(), { code: 'CALL_ABORTED' })
    call.exchange!.abort()
    await failed
    await send(endpoint)
    equal(calls, 1)
  })

  test('fails with the error that it is aborted with', async () => {
    await using endpoint = new TestEndpoint('callee', () => {})
    const call = open(endpoint)
    const reason = new Error('mine')
    call.exchange!.abort(reason)
    await rejects(call.answer(), (error) => error === reason)
  })

  test('fails if its handler aborts it, whatever the handler returns', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => void response.write('x'))
    const call = open(endpoint)
    const reason = new Error('mine')
    call.onData = () => {
      call.exchange!.abort(reason)
      return false
    }
    await rejects(call.answer(), (error) => error === reason)
  })

  test('passes text as text and bytes as bytes', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) =>
      response.end(request.url === '/text' ? 'äö' : Buffer.from('äö')),
    )
    const [text, bytes] = [open(endpoint, { path: '/text' }), open(endpoint, { path: '/bytes' })]
    await Promise.all([text.answer(), bytes.answer()])
    deepEqual(text.chunks, ['äö'])
    deepEqual(bytes.chunks, [Buffer.from('äö')])
  })

  test('ignores data beyond the stated length, as undici does over TCP', async () => {
    const server = createServer((_, response) => response.writeHead(200, { 'Content-Length': 2 }).end('abcd'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const overTcp = await requestByUndici(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { reset: true })
    const expected = await overTcp.body.text()
    server.close()
    await using endpoint = new TestEndpoint('callee', (_, response) =>
      response.writeHead(200, { 'Content-Length': 2 }).end('abcd'),
    )
    equal((await send(endpoint)).body, expected)
    equal((await send(endpoint)).body, 'ab')
  })

  test('fails at once if the response is shorter than its stated length', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) =>
      response.writeHead(200, { 'Content-Length': 4 }).end('ab'),
    )
    await rejects(send(endpoint), { code: 'UND_ERR_SOCKET', message: 'other side closed' })
  })

  test('names the service that has closed', async () => {
    await using endpoint = new TestEndpoint('callee', (request) => request.destroy())
    await rejects(send(endpoint, { path: '/x' }), (error: Error) => {
      ok(BusbarError.is(error.cause, 'SERVICE_HANGUP'))
      match(error.cause.message, /service 'callee' closed the connection .* GET \/x/)
      return true
    })
  })

  test('to a stopped endpoint is refused', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    endpoint.state = 'stopped'
    await rejects(send(endpoint), { code: 'ECONNREFUSED', service: 'callee' })
  })

  test('to a closed server is refused', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    endpoint.server.close()
    await rejects(send(endpoint), { code: 'ECONNREFUSED' })
  })

  test('to a draining endpoint is answered', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end('still here'))
    endpoint.state = 'draining'
    equal((await send(endpoint)).body, 'still here')
  })

  test('is not opened for what needs a connection', async () => {
    await using endpoint = new TestEndpoint('callee', () => {})
    const request = requestOf({ method: 'CONNECT' })
    equal(exchanges!.open(endpoint, request, { service: 'callee', hops: 1 }, new TestCall()), undefined)
  })

  test('states the length of a body without a stated one', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) =>
      response.end(JSON.stringify([request.headers['content-length'], request.headers['transfer-encoding']])),
    )
    const streamed = open(endpoint, { method: 'POST', streamed: true })
    streamed.exchange!.end()
    deepEqual(JSON.parse((await streamed.answer()).body), [null, 'chunked'])
    deepEqual(JSON.parse((await send(endpoint, { method: 'POST', body: 'äö' })).body), ['4', null])
    deepEqual(JSON.parse((await send(endpoint, { method: 'POST', body: new Uint8Array(3) })).body), ['3', null])
    deepEqual(JSON.parse((await send(endpoint)).body), [null, null])
  })

  for (const [name, chunks] of [
    ['more', ['abc', 'def']],
    ['less', ['abc']],
  ] as const)
    test(`fails if a streamed body is ${name} than its stated length`, async () => {
      await using endpoint = new TestEndpoint('callee', (request) => request.resume())
      const rawHeaders = ['Host', 'x', 'Content-Length', '4']
      const call = open(endpoint, { method: 'POST', streamed: true, rawHeaders })
      const failed = rejects(call.answer(), { code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' })
      for (const chunk of chunks) call.exchange!.write(chunk)
      call.exchange!.end()
      await failed
    })

  test('calls an https server without TLS', async () => {
    const server = createSecureServer((request, response) => {
      const { encrypted } = request.socket as Socket & { encrypted?: boolean }
      response.end(`encrypted: ${encrypted}`)
    })
    await using endpoint = new TestEndpoint('callee', server)
    equal((await send(endpoint)).body, 'encrypted: undefined')
  })
})

describe('memory that one side may reuse', { skip: unless('exchange') }, () => {
  test('a body is copied when the call is opened', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) => request.pipe(response))
    const body = Buffer.from('first')
    const answer = send(endpoint, { method: 'POST', body })
    body.write('later')
    equal((await answer).body, 'first')
  })

  test('a chunk of a body is copied when it is written', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) => request.pipe(response))
    const call = open(endpoint, { method: 'POST', streamed: true })
    const chunk = Buffer.from('first')
    call.exchange!.write(chunk)
    chunk.write('later')
    call.exchange!.end()
    equal((await call.answer()).body, 'first')
  })

  test('changes of chunks by the caller do not reach the program', async () => {
    const bytes = Buffer.from('untouched')
    await using endpoint = new TestEndpoint('callee', (_, response) => {
      response.write(bytes)
      response.end(bytes)
    })
    const call = open(endpoint)
    call.on('chunk', (chunk: Uint8Array) => chunk.fill(0))
    await call.answer()
    equal(bytes.toString(), 'untouched')
  })
})
