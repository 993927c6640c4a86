import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { assertEchoes, echoWebSockets } from '../../support/http/echo-web-sockets.ts'
import { clients } from '../../support/http/clients.ts'
import { freePort } from '../../support/http/free-ports.ts'

/** A command listens on its own port. */
describe('a command', () => {
  const server = createServer((request: IncomingMessage, response) => {
    response.setHeader('x-host', request.headers.host ?? '')
    request.pipe(response)
  })
  echoWebSockets(server)
  const mesh = new ByteMesh({}, { names: ['pages'] })
  let port: number

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
    mesh.router.addRemote({
      at: 'tcp',
      service: 'pages',
      index: 0,
      state: 'serving',
      typed: false,
      host: '127.0.0.1',
      port,
    })
  })
  after(async () => {
    await mesh[Symbol.asyncDispose]()
    server.close()
    server.closeAllConnections()
  })

  for (const [name, open] of Object.entries(clients))
    test(`is reached by ${name}`, async () => {
      await using client = open('http://pages.internal')
      const { status, body } = await client.send({ url: 'http://pages.internal', method: 'POST', body: 'hello' })
      assert.equal(status, 200)
      let received = ''
      for await (const chunk of body as AsyncIterable<Uint8Array>) received += Buffer.from(chunk).toString()
      assert.equal(received, 'hello')
    })

  test('is reached by WebSockets', () => assertEchoes('ws://pages.internal/'))

  test('shows its own port', async () => {
    const socket = connect(80, 'pages.internal')
    await once(socket, 'connect')
    assert.equal(socket.remotePort, port)
    socket.destroy()
  })

  test('refuses connections while it does not listen', async () => {
    const free = await freePort()
    await using other = new ByteMesh({}, { names: ['gone'] })
    other.router.addRemote({
      at: 'tcp',
      service: 'gone',
      index: 0,
      state: 'serving',
      typed: false,
      host: '127.0.0.1',
      port: free,
    })
    await assert.rejects(once(connect(80, 'gone.internal'), 'connect'), { code: 'ECONNREFUSED', port: free })
  })
})
