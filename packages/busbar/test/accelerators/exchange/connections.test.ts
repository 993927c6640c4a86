import { equal, notEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { send } from '../../support/mesh/test-call.ts'
import { unless } from '../../support/mesh/accelerators.ts'

describe('connections', { skip: unless('exchange') }, () => {
  test('every call in flight has its own', async () => {
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

  test('the number of idle ones is limited', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end())
    await Promise.all(Array.from({ length: 5_000 }, () => send(endpoint)))
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    const count = await new Promise<number>((resolve) =>
      endpoint.server.getConnections((_, connections) => resolve(connections)),
    )
    ok(count > 0 && count <= 2_048, `${count} connections are kept`)
  })

  for (const listens of [false, true])
    test(`an idle one times out${listens ? ', even if the program listens for timeouts' : ''}`, async () => {
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

  test('a timeout that a program sets during a call ends with it', async () => {
    let timeouts = 0
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      if (request.url === '/second') return void setTimeout(() => response.end(), 60)
      request.socket.setTimeout(20, () => timeouts++)
      response.end()
    })
    await send(endpoint, { path: '/first' })
    await send(endpoint, { path: '/second' })
    equal(timeouts, 0)
  })

  test('one that the program has ended while idle is not reused', async () => {
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

  test('each has its own port, as far as there are ports', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) =>
      response.end(`${request.socket.remotePort}`),
    )
    const [first, second] = await Promise.all([send(endpoint), send(endpoint)])
    notEqual(first.body, second.body)
  })

  test('a server that is closed during calls ends after them', async () => {
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
