import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TcpEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { assertEchoes, echoWebSockets } from '../../support/http/echo-web-sockets.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'
import { unless } from '../../support/mesh/accelerators.ts'

function commandAt(program: Server, index: number): TcpEndpoint {
  const { port } = program.address() as AddressInfo
  return { at: 'tcp', service: 'pages', index, state: 'serving', typed: false, host: '127.0.0.1', port }
}

/** A command listens on a port of its own. */
describe('a command', { skip: unless('exchange', 'stream') }, () => {
  async function withCommand(program: Server, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
    await using gateway = await TestGateway.start({ services: {}, names: ['pages'], entry: 'pages' })
    await once(program.listen(0, '127.0.0.1'), 'listening')
    gateway.router.addRemote(commandAt(program, 0))
    try {
      await use(gateway)
    } finally {
      program.close()
      program.closeAllConnections()
    }
  }

  it('is reached over its port, with bodies in both directions', async () => {
    const program = createServer((request, response) => {
      response.setHeader('x-from', request.headers['x-forwarded-for'] ?? 'nobody')
      request.pipe(response)
    })
    await withCommand(program, async (gateway) => {
      const response = await fetch(gateway.url('/'), { method: 'POST', body: 'hello' })
      assert.deepEqual([response.headers.get('x-from'), await response.text()], ['127.0.0.1', 'hello'])
    })
  })

  it('reuses connections, and a closed keep-alive connection causes no error', async () => {
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

  it('that switches protocols unasked is 502, with or without the fields of an upgrade', async () => {
    for (const fields of [{}, { connection: 'upgrade', upgrade: 'x' }]) {
      const program = createServer((_, response) => void response.writeHead(101, fields).end())
      await withCommand(program, async (gateway) => {
        const response = await fetch(gateway.url('/'))
        const { code } = (await response.json()) as { code: string }
        assert.deepEqual([response.status, code], [502, 'ANSWER_MALFORMED'])
      })
    }
  })

  it('that ends during a request is 502, also on a reused connection', async () => {
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

  it('gets its whole response to the client, also if it sends something behind it', async () => {
    const program = createServer((request, response) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'
      request.resume().on('end', () => response.socket!.end(`${head}helloNo status line`))
    })
    await withCommand(program, async (gateway) => {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(gateway.url('/'), { method })
        assert.deepEqual([response.status, await response.text()], [200, 'hello'])
      }
    })
  })

  it('accepts WebSockets', async () => {
    const program = createServer()
    echoWebSockets(program)
    await withCommand(program, (gateway) => assertEchoes(gateway.url('/').replace('http', 'ws')))
  })

  /** A second instance, which answers with the method and the body. */
  async function withOther(gateway: TestGateway, use: () => Promise<void>): Promise<void> {
    const other = createServer((request, response) => {
      request.setEncoding('utf8')
      let body = ''
      request.on('data', (text: string) => (body += text))
      request.on('end', () => response.end(`${request.method} ${body}`))
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    gateway.router.addRemote(commandAt(other, 1))
    try {
      await use()
    } finally {
      other.close()
      other.closeAllConnections()
    }
  }

  it('that has ended is passed over for another instance, whatever the method', async () => {
    const program = createServer()
    await withCommand(program, async (gateway) => {
      await once(program.close(), 'close')
      await withOther(gateway, async () => {
        for (let turn = 0; turn < 4; turn++)
          for (const [method, body] of [['GET'], ['DELETE'], ['POST'], ['POST', 'hello']] as const) {
            const response = await fetch(gateway.url('/'), { method, body: body ?? null })
            assert.deepEqual([response.status, await response.text()], [200, `${method} ${body ?? ''}`])
          }
      })
    })
  })

  it('that ends during a request leaves it to another instance if it is idempotent', async () => {
    for (const method of ['GET', 'POST']) {
      const asked = Promise.withResolvers<void>()
      const program = createServer(() => asked.resolve())
      await withCommand(program, async (gateway) => {
        const answer = fetch(gateway.url('/'), { method })
        await asked.promise
        await withOther(gateway, async () => {
          program.close()
          program.closeAllConnections()
          assert.equal((await answer).status, method === 'GET' ? 200 : 502)
        })
      })
    }
  })

  it('that only closes the connection during a request is 502, though there is another instance', async () => {
    const asked = Promise.withResolvers<() => void>()
    const program = createServer(({ socket }) => asked.resolve(() => socket.destroy()))
    await withCommand(program, async (gateway) => {
      const answer = fetch(gateway.url('/'))
      const close = await asked.promise
      await withOther(gateway, async () => {
        close()
        assert.equal((await answer).status, 502)
      })
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
