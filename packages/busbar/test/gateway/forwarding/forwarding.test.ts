import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { BusbarError } from '../../../src/contract/errors.ts'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'
import { linkedEndpoint } from '../../support/mesh/linked-endpoint.ts'
import { unless } from '../../support/mesh/accelerators.ts'

/** A gateway whose only service runs in another worker. */
async function withService(
  program: RequestListener | Server,
  use: (gateway: TestGateway, endpoint: RemoteEndpoint) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const gateway = stack.use(await TestGateway.start({ services: {}, names: ['shop'], entry: 'shop' }))
  const endpoint = stack.use(linkedEndpoint(stack.use(new TestEndpoint('shop', program))))
  gateway.router.addRemote(endpoint)
  await use(gateway, endpoint)
}

const died = { code: 'WORKER_DIED', message: 'worker 2 ended' } as const

it('the client gets the head of a response before its body', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const program: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    asked.resolve(response)
  }
  await withService(program, async (gateway) => {
    const answer = await fetch(gateway.url('/'))
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
    ;(await asked.promise).end('data: 1\n\n')
    assert.equal(await answer.text(), 'data: 1\n\n')
  })
})

it('the client gets the head of a response that fails before its body', async () => {
  const program: RequestListener = (_, response) =>
    void response.writeHead(200, { 'content-length': 10, connection: 'close' }).end()
  await withService(program, async (gateway) => {
    const answer = await fetch(gateway.url('/'))
    assert.equal(answer.status, 200)
    await assert.rejects(answer.text())
  })
})

it('a large body that the program does not read does not block the next request of its connection', async () => {
  // By then the gateway has stopped reading the body.
  const program: RequestListener = ({ method }, response) => void setTimeout(() => response.end(`<${method}>`), 100)
  await withService(program, async (gateway) => {
    const client = await gateway.raw()
    const size = 3_000_000
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    client.write('x'.repeat(size))
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.match(await client.closed(), /<POST>[^]*<GET>$/)
  })
})

it('a response 426 lets the connection end if the client asks for that', async () => {
  const program: RequestListener = (_, response) => void response.writeHead(426, { upgrade: 'foo' }).end()
  await withService(program, async (gateway) => {
    const answer = await fetch(gateway.url('/'), { headers: { connection: 'close' } })
    assert.deepEqual([answer.status, answer.headers.get('connection')], [426, 'upgrade, close'])
    await answer.text()
  })
})

it('a response that ends with a status below 200 is 502 at once', { skip: unless('exchange') }, async () => {
  for (const status of [101, 102, 103, 199]) {
    const program: RequestListener = (_, response) => void response.writeHead(status).end()
    await withService(program, async (gateway) => {
      const answer = await fetch(gateway.url('/'))
      assert.equal(answer.status, 502)
      assert.equal(((await answer.json()) as { code: string }).code, 'ANSWER_MALFORMED')
    })
  }
})

for (const [when, response] of [
  ['before the response', ''],
  ['during a refusal', 'HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nno'],
  ['after it', 'HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
])
  it(`a client that asks for an upgrade may reset its connection ${when}`, async () => {
    const asked = Promise.withResolvers<Duplex>()
    const server = createServer().on('upgrade', (_, socket) => {
      socket.on('error', () => {}).write(response)
      asked.resolve(socket.on('end', () => socket.end()).resume())
    })
    await withService(server, async (gateway) => {
      const client = await gateway.raw()
      client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      const socket = await asked.promise
      if (response !== '') await once(client.socket, 'data')
      const closed = new Promise((resolve) => socket.once('close', resolve))
      client.socket.resetAndDestroy()
      await closed
    })
  })

describe('when the worker of a service dies', { skip: unless('exchange', 'stream') }, () => {
  it('waiting clients get 502 at once', async () => {
    const asked = Promise.withResolvers<void>()
    await withService(
      () => asked.resolve(),
      async (gateway, endpoint) => {
        const answer = fetch(gateway.url('/'), { method: 'POST', body: 'x' })
        await asked.promise
        endpoint.link.close(died)
        const response = await answer
        assert.equal(response.status, 502)
        const { code, service } = (await response.json()) as { code: string; service: string }
        assert.deepEqual([code, service], ['WORKER_DIED', 'shop'])
      },
    )
  })

  it('a response that has begun is truncated', async () => {
    await withService(
      (_, response) => void response.write('half'),
      async (gateway, endpoint) => {
        const response = await fetch(gateway.url('/'))
        const reader = response.body!.getReader()
        assert.equal(Buffer.from((await reader.read()).value ?? '').toString(), 'half')
        endpoint.link.close(died)
        await assert.rejects(reader.read())
      },
    )
  })

  it('a WebSocket is closed', async () => {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    assert.equal(sockets.clients.size, 0)
    await withService(server, async (gateway, endpoint) => {
      const client = new WebSocket(gateway.url('/').replace('http', 'ws'))
      await once(client, 'open')
      endpoint.link.close(died)
      client.on('error', () => {})
      assert.equal((await once(client, 'close'))[0], 1006)
    })
  })

  it('an idempotent request is retried on another instance', async () => {
    const asked = Promise.withResolvers<void>()
    await withService(
      () => asked.resolve(),
      async (gateway, endpoint) => {
        const answer = fetch(gateway.url('/'))
        await asked.promise
        await using other = new TestEndpoint('shop', (_, response) => void response.end('other'))
        gateway.router.add(other)
        endpoint.link.close(died)
        assert.equal(await (await answer).text(), 'other')
      },
    )
  })
})

describe('a service in another worker', { skip: unless('exchange', 'stream') }, () => {
  it('that is at its limit is 503 with Retry-After', async () => {
    await withService(
      () => assert.fail('called'),
      async (gateway, endpoint) => {
        const enter = (): never => {
          throw new BusbarError('RESOURCE_EXHAUSTED', { message: 'full' })
        }
        gateway.router.removeRemote(endpoint)
        gateway.router.addRemote(Object.assign(Object.create(endpoint), { admission: { enter, leave() {} } }))
        const response = await fetch(gateway.url('/'), { method: 'POST', body: 'x'.repeat(1000) })
        assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
      },
    )
  })

  it('gets an upload with backpressure', async () => {
    let total = 0
    await withService(
      (request, response) => {
        request.on('data', (chunk: Buffer) => (total += chunk.length))
        request.on('end', () => response.end(String(total)))
      },
      async (gateway) => {
        const body = Buffer.alloc(8 * 1024 * 1024, 'x')
        const response = await fetch(gateway.url('/'), { method: 'POST', body })
        assert.equal(await response.text(), String(body.length))
      },
    )
  })

  it('waits for a client that does not read, in bounded memory', async () => {
    let written = 0
    const whole = 64 * 1024 * 1024
    const piece = Buffer.alloc(64 * 1024)
    await withService(
      (_, response) => {
        const write = (): void => {
          while (written < whole) {
            written += piece.length
            if (!response.write(piece)) return void response.once('drain', write)
          }
          response.end()
        }
        write()
      },
      async (gateway) => {
        const client = await gateway.raw()
        client.socket.pause()
        client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        let before = -1
        for (let quiet = 0; quiet < 20; before = written) {
          await new Promise((resolve) => setTimeout(resolve, 5))
          quiet = written === before && written > 0 ? quiet + 1 : 0
        }
        // The system's buffers of a connection, and what may be on its way between the workers.
        assert.ok(written < 24 * 1024 * 1024, `${written} bytes`)
        client.socket.destroy()
      },
    )
  })

  it('sends no chunks to an HTTP/1.0 client', async () => {
    await withService(
      (_, response) => {
        response.write('a')
        response.end('b')
      },
      async (gateway) => {
        const answer = await gateway.send('GET / HTTP/1.0\r\nHost: a\r\n\r\n')
        assert.match(answer, /^HTTP\/1\.1 200 [^]*\r\n\r\nab$/)
        assert.doesNotMatch(answer, /transfer-encoding/i)
      },
    )
  })
})
