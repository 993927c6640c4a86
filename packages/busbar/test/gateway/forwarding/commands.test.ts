import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { assertEchoes, echoWebSockets } from '../../support/http/echo-web-sockets.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'
import { unless } from '../../support/mesh/accelerators.ts'

/** A command listens on a port of its own. */
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

  it('that does not listen is 503', async () => {
    const program = createServer()
    await withCommand(program, async (gateway) => {
      program.close()
      assert.equal((await fetch(gateway.url('/'))).status, 503)
    })
  })
})
