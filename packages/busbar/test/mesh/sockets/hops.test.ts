import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { describe, test } from 'node:test'
import { WebSocketServer, WebSocket as Ws } from 'ws'
import { currentScope } from '../../../src/mesh/scope.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { clients, textOf, type ClientRequest, type ClientResponse } from '../../support/http/clients.ts'

const url = 'http://catalog.internal'

/** Answers with the hop count that the program's own code sees. */
const tellHops: http.RequestListener = (_request, response) => void response.end(String(currentScope()?.hops))

for (const [name, open] of Object.entries(clients)) {
  const send = async (request: ClientRequest): Promise<ClientResponse & { text: string }> => {
    await using client = open(new URL(request.url).origin)
    const response = await client.send(request)
    return { ...response, text: await textOf(response.body) }
  }

  describe(`a chain of calls by ${name}`, () => {
    test('is counted from one', async () => {
      await using _mesh = new ByteMesh({ catalog: tellHops })
      assert.equal((await send({ url })).text, '1')
    })

    test('is counted across services', async () => {
      const forward: http.RequestListener = (_request, response) => {
        void send({ url }).then(({ text }) => response.end(text))
      }
      await using _mesh = new ByteMesh({ shop: forward, catalog: tellHops })
      assert.equal((await send({ url: 'http://shop.internal' })).text, '2')
    })

    test('that never ends is answered 508', async () => {
      const loop: http.RequestListener = (_request, response) => {
        void send({ url }).then(({ status, headers, text }) => {
          response.writeHead(status, { 'content-type': String(headers['content-type']) }).end(text)
        })
      }
      await using _mesh = new ByteMesh({ catalog: loop }, { maxHops: 4 })
      const { status, headers, text } = await send({ url })
      assert.equal(status, 508)
      assert.equal(headers['content-type'], 'application/problem+json')
      const problem = JSON.parse(text) as Record<string, unknown>
      assert.equal(problem['status'], 508)
      assert.equal(problem['code'], 'HOP_LIMIT')
      assert.equal(problem['service'], 'catalog')
    })

    test('uses a header that the program does not see, nor a caller’s header of that name', async () => {
      const tellHeaders: http.RequestListener = ({ headers, rawHeaders }, response) =>
        void response.end(JSON.stringify({ headers, rawHeaders }).toLowerCase())
      await using _mesh = new ByteMesh({ catalog: tellHeaders })
      const { text } = await send({ url, headers: { 'Busbar-Hops': '77', 'x-other': 'seen' } })
      assert.match(text, /x-other/)
      assert.doesNotMatch(text, /busbar-hops/)
    })

    test('is counted correctly even if the caller copies a header with another count', async () => {
      await using _mesh = new ByteMesh({ catalog: tellHops })
      assert.equal((await send({ url, headers: { 'Busbar-Hops': '77' } })).text, '1')
    })
  })
}

describe('hops', () => {
  test('reach code that runs after the body was read', async () => {
    const shop: http.RequestListener = (request, response) => {
      request.resume().on('end', () => http.get(url, (answer) => answer.pipe(response)))
    }
    await using _mesh = new ByteMesh({ shop, catalog: tellHops })
    const response = await fetch('http://shop.internal/', { method: 'POST', body: 'x'.repeat(100_000) })
    assert.equal(await response.text(), '2')
  })

  test('belong to the request, even if its body arrives late on a connection that another call opened', async () => {
    const arrived: (() => void)[] = []
    const shop: http.RequestListener = (request, response) => {
      request.resume().on('end', () => http.get(url, (answer) => answer.pipe(response)))
      arrived.shift()!()
    }
    await using _mesh = new ByteMesh({ shop, catalog: tellHops })
    const socket = net.connect(80, 'shop.internal')
    const answers: string[] = []
    for (const own of ['', 'Busbar-Hops: 4\r\n']) {
      const begun = new Promise<void>((resolve) => arrived.push(resolve))
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${own}Content-Length: 4\r\n\r\n`)
      await begun
      socket.write('late')
      let text = ''
      while (!text.endsWith('\r\n0\r\n\r\n')) text += String((await once(socket, 'data'))[0])
      answers.push(text.split('\r\n').at(-4)!)
    }
    assert.deepEqual(answers, ['2', '5'])
    socket.destroy()
  })

  test('differ between the requests of one connection', async () => {
    const late: (() => number | undefined)[] = []
    const program: http.RequestListener = (_request, response) => {
      late.push(AsyncLocalStorage.bind(() => currentScope()?.hops))
      response.end()
    }
    await using _mesh = new ByteMesh({ catalog: program })
    const socket = net.connect(80, 'catalog.internal')
    const requests = [3, 2].map((hops) => `GET / HTTP/1.1\r\nHost: x\r\nbusbar-hops: ${hops}\r\n`)
    socket.end(`${requests.join('\r\n')}Connection: close\r\n\r\n`)
    await socket.resume().toArray()
    assert.deepEqual(
      late.map((hops) => hops()),
      [3, 2],
    )
  })

  test('are sent with headers given as a list', async () => {
    await using _mesh = new ByteMesh({ catalog: tellHops })
    const request = http.request(url, { headers: ['Host', 'catalog.internal', 'X-Own', '1'] as never, agent: false })
    request.end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    assert.equal(await textOf(response), '1')
  })

  test('are sent with a request that waits for 100-continue', async () => {
    await using _mesh = new ByteMesh({ catalog: tellHops })
    const request = http.request(url, { method: 'POST', headers: { expect: '100-continue' }, agent: false })
    request.on('continue', () => request.end('body'))
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    assert.equal(await textOf(response), '1')
  })

  test('of an upgrade apply to what its messages cause', async () => {
    const program = http.createServer()
    const sockets = new WebSocketServer({ server: program })
    sockets.on('connection', (socket) => {
      socket.on('message', () => {
        http.get(url, (answer) => void textOf(answer).then((text) => socket.send(text)))
      })
    })
    await using _mesh = new ByteMesh({ chat: program, catalog: tellHops })
    const socket = new Ws('ws://chat.internal')
    await once(socket, 'open')
    socket.send('ask')
    const [message] = (await once(socket, 'message')) as [Buffer]
    assert.equal(String(message), '2')
    socket.close()
    await once(socket, 'close')
  })

  test('beyond the limit refuse an upgrade before the program sees it', async () => {
    const program = http.createServer()
    program.on('upgrade', () => assert.fail('upgraded'))
    await using _mesh = new ByteMesh({ catalog: program }, { maxHops: 0 })
    const socket = net.connect(80, 'catalog.internal')
    socket.write('GET / HTTP/1.1\r\nHost: catalog.internal\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nearly bytes')
    const [head = '', body = ''] = Buffer.concat(await socket.toArray())
      .toString()
      .split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 508 /)
    for (const field of ['content-type: application/problem+json', 'connection: close'])
      assert.ok(head.split('\r\n').includes(field), head)
    assert.equal((JSON.parse(body) as { code: string }).code, 'HOP_LIMIT')
  })

  test('are not sent to the network, and not accepted from it', async () => {
    const seen: http.IncomingHttpHeaders[] = []
    const hops: (number | undefined)[] = []
    await using _mesh = new ByteMesh({ catalog: tellHops }, { maxHops: 2 })
    const server = http.createServer((request, response) => {
      seen.push(request.headers)
      hops.push(currentScope()?.hops)
      response.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const outside = `http://127.0.0.1:${port}`
    await (await fetch(outside)).text()
    const answer = await fetch(outside, { headers: { 'busbar-hops': '99' } })
    assert.equal(answer.status, 200)
    assert.deepEqual(
      seen.map((headers) => headers['busbar-hops']),
      [undefined, '99'],
    )
    assert.deepEqual(hops, [undefined, undefined])
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
})
