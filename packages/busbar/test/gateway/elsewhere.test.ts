import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { BusbarError } from '../../src/contract/errors.ts'
import type { RemoteEndpoint } from '../../src/mesh/endpoint.ts'
import { TestEndpoint } from '../support/endpoint.ts'
import { TestGateway } from '../support/gateway.ts'
import { elsewhere } from '../support/linked.ts'
import { unless } from '../support/accelerated.ts'

/** A gateway without a service in its worker, and one elsewhere. */
async function withService(
  program: RequestListener | Server,
  use: (gateway: TestGateway, endpoint: RemoteEndpoint) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const gateway = stack.use(await TestGateway.start({ services: {}, names: ['shop'], entry: 'shop' }))
  const endpoint = stack.use(elsewhere(stack.use(new TestEndpoint('shop', program))))
  gateway.router.addRemote(endpoint)
  await use(gateway, endpoint)
}

const died = { code: 'WORKER_DIED', message: 'worker 2 ended' } as const

it('the client has the head of an answer before any of its body', async () => {
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

it('a service that asks for an upgrade lets the connection end where the client wants that', async () => {
  const program: RequestListener = (_, response) => void response.writeHead(426, { upgrade: 'foo' }).end()
  await withService(program, async (gateway) => {
    const answer = await fetch(gateway.url('/'), { headers: { connection: 'close' } })
    assert.deepEqual([answer.status, answer.headers.get('connection')], [426, 'upgrade, close'])
    await answer.text()
  })
})

it('an answer that ends with a status below 200 is told at once, with 502', { skip: unless('exchange') }, async () => {
  for (const status of [102, 103, 199]) {
    const program: RequestListener = (_, response) => void response.writeHead(status).end()
    await withService(program, async (gateway) => {
      const answer = await fetch(gateway.url('/'))
      assert.equal(answer.status, 502)
      assert.equal(((await answer.json()) as { code: string }).code, 'ANSWER_MALFORMED')
    })
  }
})

describe('when the worker of a service dies', { skip: unless('exchange', 'stream') }, () => {
  it('whoever waits for it is told at once, with 502', async () => {
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

  it('an answer that has begun is cut', async () => {
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

  it('a WebSocket is cut', async () => {
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

  it('a request that may be made twice goes to another instance', async () => {
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

describe('a service elsewhere', { skip: unless('exchange', 'stream') }, () => {
  it('that takes no more is 503, with when to come again', async () => {
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

  it('gets an upload as fast as it reads', async () => {
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
        // What the system keeps for a connection, and what may be under way between the workers.
        assert.ok(written < 24 * 1024 * 1024, `${written} bytes`)
        client.socket.destroy()
      },
    )
  })

  it('speaks HTTP/1.0 to who knows nothing else: no chunks', async () => {
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

/** It listens on a port of its own. */
describe('a command', { skip: unless('exchange', 'stream') }, () => {
  async function withCommand(program: Server, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
    await using gateway = await TestGateway.start({ services: {}, names: ['pages'], entry: 'pages' })
    await once(program.listen(0, '127.0.0.1'), 'listening')
    const { port } = program.address() as AddressInfo
    gateway.router.addRemote({
      at: 'tcp',
      service: 'pages',
      index: 0,
      state: 'serving',
      typed: false,
      host: '127.0.0.1',
      port,
    })
    try {
      await use(gateway)
    } finally {
      program.close()
      program.closeAllConnections()
    }
  }

  it('is reached over its port, with bodies both ways', async () => {
    const program = createServer((request, response) => {
      response.setHeader('x-from', request.headers['x-forwarded-for'] ?? 'nobody')
      request.pipe(response)
    })
    await withCommand(program, async (gateway) => {
      const response = await fetch(gateway.url('/'), { method: 'POST', body: 'hello' })
      assert.deepEqual([response.headers.get('x-from'), await response.text()], ['127.0.0.1', 'hello'])
    })
  })

  it('keeps its connections for the next request, and one that it closed meanwhile is nobody’s loss', async () => {
    const ports = new Set<number | undefined>()
    const program = createServer((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('ok')
    })
    await withCommand(program, async (gateway) => {
      for (let turn = 0; turn < 5; turn++) assert.equal(await (await fetch(gateway.url('/'))).text(), 'ok')
      assert.equal(ports.size, 1)
      program.closeAllConnections()
      assert.equal(await (await fetch(gateway.url('/'))).text(), 'ok')
      assert.equal(ports.size, 2)
    })
  })

  it('that ends over a request is 502, on a kept connection too', async () => {
    let asked = 0
    const program = createServer((_, response) => {
      if (++asked === 1) return void response.end('ok')
      program.close()
      program.closeAllConnections()
    })
    await withCommand(program, async (gateway) => {
      await (await fetch(gateway.url('/'))).text()
      assert.equal((await fetch(gateway.url('/'))).status, 502)
    })
  })

  it('takes WebSockets', async () => {
    const program = createServer()
    new WebSocketServer({ server: program }).on('connection', (socket) => {
      socket.on('message', (data) => socket.send(data, { binary: false }))
    })
    await withCommand(program, async (gateway) => {
      const client = new WebSocket(gateway.url('/').replace('http', 'ws'))
      await once(client, 'open')
      client.send('echo')
      assert.equal(String((await once(client, 'message'))[0]), 'echo')
      client.close()
      await once(client, 'close')
    })
  })

  it('that does not listen is 503', async () => {
    const program = createServer()
    await withCommand(program, async (gateway) => {
      program.close()
      assert.equal((await fetch(gateway.url('/'))).status, 503)
    })
  })
})
