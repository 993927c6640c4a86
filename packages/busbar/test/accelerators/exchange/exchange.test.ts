import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { request as requestByUndici } from 'undici8'
import { BusbarError } from '../../../src/contract/errors.ts'
import { exchangeFault } from '../../../src/accelerators/exchange/probe.ts'
import { TestEndpoint } from '../../support/endpoint.ts'
import { open, requestOf, send, TestCall } from '../../support/exchange.ts'
import { exchanges, unless } from '../../support/accelerated.ts'

describe('an exchange', { skip: unless('exchange') }, () => {
  test('works on this Node', () => {
    equal(exchangeFault(), undefined)
  })

  test('begins in a tick of its own, and tells of the answer in a tick of its own', async () => {
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

  test('calls of one turn reach the program in the order they were made', async () => {
    const paths: string[] = []
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      paths.push(request.url!)
      response.end()
    })
    const wanted = Array.from({ length: 100 }, (_, n) => `/${n}`)
    await Promise.all(wanted.map((path) => send(endpoint, { path })))
    deepEqual(paths, wanted)
  })

  test('does not keep the rest waiting when one call causes the next for ever', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    let over = false
    setTimeout(() => (over = true), 1)
    while (!over) await send(endpoint)
  })

  test('that is aborted before it began never reaches the program', async () => {
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

  test('is told of with the error of whoever aborts it', async () => {
    await using endpoint = new TestEndpoint('callee', () => {})
    const call = open(endpoint)
    const reason = new Error('mine')
    call.exchange!.abort(reason)
    await rejects(call.answer(), (error) => error === reason)
  })

  test('is told of an abort from within its handler, whatever that answers', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => void response.write('x'))
    const call = open(endpoint)
    const reason = new Error('mine')
    call.onData = () => {
      call.exchange!.abort(reason)
      return false
    }
    await rejects(call.answer(), (error) => error === reason)
  })

  test('hands over text as text and bytes as bytes', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) =>
      response.end(request.url === '/text' ? 'äö' : Buffer.from('äö')),
    )
    const [text, bytes] = [open(endpoint, { path: '/text' }), open(endpoint, { path: '/bytes' })]
    await Promise.all([text.answer(), bytes.answer()])
    deepEqual(text.chunks, ['äö'])
    deepEqual(bytes.chunks, [Buffer.from('äö')])
  })

  test('takes more than the stated length as undici does over TCP: it leaves the rest', async () => {
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

  test('fails at once where the answer stays behind its length', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) =>
      response.writeHead(200, { 'Content-Length': 4 }).end('ab'),
    )
    await rejects(send(endpoint), { code: 'UND_ERR_SOCKET', message: 'other side closed' })
  })

  test('says which service hung up', async () => {
    await using endpoint = new TestEndpoint('callee', (request) => request.destroy())
    await rejects(send(endpoint, { path: '/x' }), (error: Error) => {
      ok(BusbarError.is(error.cause, 'SERVICE_HANGUP'))
      match(error.cause.message, /service 'callee' closed the connection .* GET \/x/)
      return true
    })
  })

  test('to an endpoint that has stopped is refused', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    endpoint.state = 'stopped'
    await rejects(send(endpoint), { code: 'ECONNREFUSED', service: 'callee' })
  })

  test('to a server that was closed is refused', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    endpoint.server.close()
    await rejects(send(endpoint), { code: 'ECONNREFUSED' })
  })

  test('to an endpoint that drains is answered', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end('still here'))
    endpoint.state = 'draining'
    equal((await send(endpoint)).body, 'still here')
  })

  test('is not opened for what only a connection does', async () => {
    await using endpoint = new TestEndpoint('callee', () => {})
    const request = requestOf({ method: 'CONNECT' })
    equal(exchanges!.open(endpoint, request, { service: 'callee', hops: 1 }, new TestCall()), undefined)
  })

  test('states the length of a body that came without one', async () => {
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
    test(`fails where a streamed body is ${name} than its stated length`, async () => {
      await using endpoint = new TestEndpoint('callee', (request) => request.resume())
      const rawHeaders = ['Host', 'x', 'Content-Length', '4']
      const call = open(endpoint, { method: 'POST', streamed: true, rawHeaders })
      const failed = rejects(call.answer(), { code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' })
      for (const chunk of chunks) call.exchange!.write(chunk)
      call.exchange!.end()
      await failed
    })

  test('calls an https server in plain text', async () => {
    const server = createSecureServer((request, response) => {
      const { encrypted } = request.socket as Socket & { encrypted?: boolean }
      response.end(`encrypted: ${encrypted}`)
    })
    await using endpoint = new TestEndpoint('callee', server)
    equal((await send(endpoint)).body, 'encrypted: undefined')
  })
})

describe('memory that one side may use again', { skip: unless('exchange') }, () => {
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

  test('what the caller does to its chunks does not reach the program', async () => {
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

describe('connections', { skip: unless('exchange') }, () => {
  test('every call in flight has its own, however many there are', async () => {
    const sockets = new Set<Socket>()
    const waiting: ServerResponse[] = []
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      sockets.add(request.socket)
      waiting.push(response)
    })
    const answers = Array.from({ length: 2_000 }, () => send(endpoint))
    while (waiting.length < 2_000) await nextTurn()
    equal(sockets.size, 2_000)
    for (const response of waiting) response.end()
    await Promise.all(answers)
  })

  test('a bounded number of them is kept', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    await Promise.all(Array.from({ length: 5_000 }, () => send(endpoint)))
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    const count = await new Promise<number>((resolve) =>
      endpoint.server.getConnections((_, connections) => resolve(connections)),
    )
    ok(count > 0 && count <= 2_048, `${count} connections are kept`)
  })

  for (const listens of [false, true])
    test(`an idle one is closed in the end${listens ? ', even if the program listens for timeouts' : ''}`, async () => {
      const sockets: Socket[] = []
      const server = createServer({ keepAliveTimeout: 1_000 }, (request, response) => {
        sockets.push(request.socket)
        response.end()
      })
      if (listens) server.on('timeout', () => {})
      await using endpoint = new TestEndpoint('callee', server)
      await send(endpoint)
      await once(sockets[0]!, 'close')
      await send(endpoint)
      notEqual(sockets[1], sockets[0])
    })

  test('a timeout that a program set for its call does not outlive it', async () => {
    let timeouts = 0
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      if (request.url === '/first') request.socket.setTimeout(20, () => timeouts++)
      setTimeout(() => response.end(), request.url === '/first' ? 0 : 60)
    })
    await send(endpoint, { path: '/first' })
    await send(endpoint, { path: '/second' })
    equal(timeouts, 0)
  })

  test('one that the program ended while it was idle is not used again', async () => {
    const sockets: Socket[] = []
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      sockets.push(request.socket)
      response.end()
    })
    await send(endpoint)
    await nextTurn()
    sockets[0]!.end()
    await send(endpoint)
    notEqual(sockets[1], sockets[0])
  })

  test('each has a port of its own, as far as they go', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) =>
      response.end(`${request.socket.remotePort}`),
    )
    const [first, second] = await Promise.all([send(endpoint), send(endpoint)])
    notEqual(first.body, second.body)
  })

  test('a server closes while calls go on, and ends when they have', async () => {
    const waiting: ServerResponse[] = []
    await using endpoint = new TestEndpoint('callee', (_, response) => void waiting.push(response))
    const answer = send(endpoint)
    while (waiting.length === 0) await nextTurn()
    const closed = once(endpoint.server, 'close')
    endpoint.server.close()
    waiting[0]!.end('last words')
    equal((await answer).body, 'last words')
    await closed
  })
})
