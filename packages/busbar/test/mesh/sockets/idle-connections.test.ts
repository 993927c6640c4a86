import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { unless } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'

const where = { host: 'catalog.internal', port: 80 }

/** A connection through the kernel loses a request that meets the close of its server. */
const skip = unless('stream')

for (const overLink of [false, true])
  describe(`an idle connection${overLink ? ' over a link' : ''}`, () => {
    test('loses no request when the time of its server is over', { skip }, async () => {
      const idle = 10
      const { server } = countingServer()
      Object.assign(server, { keepAliveTimeout: idle, keepAliveTimeoutBuffer: 0 })
      await using _mesh = new ByteMesh({ catalog: server }, { overLink })
      using client = new Client()
      for (let round = 0; round < 5; round++) {
        assert.equal(await client.ask(), 'answer')
        await client.untilFree()
        // The server's timer is due in the turn in which the request is sent.
        const { promise, resolve } = Promise.withResolvers<string>()
        setTimeout(() => {
          const end = performance.now() + 2 * idle
          while (performance.now() < end);
          resolve(client.ask())
        }, 1)
        assert.equal(await promise, 'answer')
      }
    })

    for (const close of ['closeIdleConnections', 'close'] as const)
      test(`loses no request to ${close}()`, { skip }, async () => {
        const { server } = countingServer()
        server.keepAliveTimeout = 10
        await using _mesh = new ByteMesh({ catalog: server }, { overLink })
        using client = new Client()
        assert.equal(await client.ask(), 'answer')
        await client.untilFree()
        const onItsWay = client.ask()
        await new Promise((resolve) => process.nextTick(resolve))
        server[close]()
        assert.equal(await onItsWay, 'answer')
      })

    test('is closed by its server, and the next request opens another one', async () => {
      const { server, count } = countingServer()
      await using _mesh = new ByteMesh({ catalog: server }, { overLink })
      using client = new Client()
      assert.equal(await client.ask(), 'answer')
      await client.untilFree()
      server.closeIdleConnections()
      await client.untilClosed()
      assert.equal(await client.ask(), 'answer')
      assert.equal(count(), 2)
    })

    test('ends for its client as any connection does, and no longer keeps the server from closing', async () => {
      const { server, sockets } = countingServer()
      Object.assign(server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 })
      await using _mesh = new ByteMesh({ catalog: server }, { overLink })
      const client = connect({ ...where, allowHalfOpen: true })
      client.write('GET / HTTP/1.1\r\nhost: catalog\r\n\r\n')
      assert.match(Buffer.concat(await client.toArray()).toString(), /answer$/)
      const [socket] = sockets
      if (!socket!.destroyed) await once(socket!, 'close')
      client.end()
      server.close()
      await once(server, 'close')
    })

    test('is one without a request: a timeout during a request closes the connection before its listener answers', async () => {
      const server = createServer((request, response) => {
        request.socket.setTimeout(10, () => response.end('late'))
      })
      await using _mesh = new ByteMesh({ catalog: server }, { overLink })
      using client = new Client()
      await assert.rejects(client.ask(), { code: 'ECONNRESET' })
    })

    test('closes although its client has not read the response', async () => {
      const { server, sockets } = countingServer()
      Object.assign(server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 })
      await using _mesh = new ByteMesh({ catalog: server }, { overLink })
      const client = connect(where).pause()
      client.write('GET / HTTP/1.1\r\nhost: catalog\r\n\r\n')
      await once(server, 'connection')
      if (!sockets[0]!.destroyed) await once(sockets[0]!, 'close')
      assert.match(Buffer.concat(await client.toArray()).toString(), /answer$/)
    })
  })

interface CountingServer {
  readonly server: Server
  readonly sockets: Socket[]
  readonly count: () => number
}

function countingServer(): CountingServer {
  const sockets: Socket[] = []
  // Without `keep-alive: timeout=0`, by which an agent would not keep the connection.
  const head = { connection: 'keep-alive', 'content-length': 6 }
  const server = createServer((_request, response) => void response.writeHead(200, head).end('answer'))
  server.on('connection', (socket) => sockets.push(socket))
  return { server, sockets, count: () => sockets.length }
}

/** Keeps its connection for as long as the server does, whatever `keep-alive` says. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  ask(): Promise<string> {
    return new Promise((resolve, reject) => {
      get({ ...where, agent: this.#agent }, (response) => void text(response).then(resolve, reject)).once(
        'error',
        reject,
      )
    })
  }

  async untilFree(): Promise<void> {
    while (Object.keys(this.#agent.freeSockets).length === 0) await nextTurn()
  }

  async untilClosed(): Promise<void> {
    while (Object.keys(this.#agent.freeSockets).length > 0) await nextTurn()
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
