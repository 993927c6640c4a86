import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { CommandConnections } from '../../../src/mesh/sockets/command-connections.ts'

test('a command that leaves answers first; connections that wait for a request are closed by the client', async () => {
  let answer = (): void => {}
  await using server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/late') answer = () => void response.end('late')
    else response.end('at once')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connections = new CommandConnections()
  const sockets: Socket[] = []
  const agent = new Agent({ keepAlive: true })
  agent.createConnection = () => {
    const socket = new Socket().connect(port, '127.0.0.1')
    connections.add(socket)
    sockets.push(socket)
    return socket
  }
  const ask = async (path: string): Promise<string> => {
    const [response] = (await once(request({ agent, path }).end(), 'response')) as [IncomingMessage]
    return await text(response)
  }
  const late = ask('/late')
  await once(server, 'request')
  assert.equal(await ask('/'), 'at once')
  const left = connections.leave()
  assert.ok(connections.leaving.aborted)
  await once(sockets[1]!, 'close')
  assert.equal(sockets[0]!.destroyed, false)
  answer()
  assert.equal(await late, 'late')
  await left
})

test('an upgraded connection is left to its ends', async () => {
  await using server = createServer()
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {}).on('end', () => socket.destroy())
    socket.resume().write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = new CommandConnections()
  const socket = new Socket().connect((server.address() as AddressInfo).port, '127.0.0.1')
  connections.add(socket)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'data')
  const left = connections.leave()
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(socket.destroyed, false)
  socket.destroy()
  await left
})
