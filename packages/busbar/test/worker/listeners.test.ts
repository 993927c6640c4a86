import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { type ConnectionSink, toConnectionSink } from '../../src/mesh/sockets/instance/connection-sink.ts'
import { PrivateListener } from '../../src/mesh/sockets/instance/private-listener.ts'
import { createCells, WorkerCells } from '../../src/shared/metrics/worker-cells.ts'
import { openPort, type Port } from '../../src/shared/listeners/open-port.ts'
import { Listeners } from '../../src/worker/listeners.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/** A server behind `Listeners` and a real port, with the cells that count closed connections. */
class Entrance implements AsyncDisposable {
  readonly cells = new WorkerCells(createCells(1), 0)
  readonly server: Server
  readonly port: Port

  private constructor(server: Server, listeners: (cells: WorkerCells) => Listeners, port: Port) {
    this.server = server
    this.port = port
    this.#listeners = listeners(this.cells)
  }

  #listeners: Listeners

  static async open(server: Server, taker: ConnectionSink = toConnectionSink(server)): Promise<Entrance> {
    let entrance: Entrance | undefined
    const port = await openPort(
      { id: 'gateway', host: '127.0.0.1', port: 0, serves: { kind: 'gateway' } },
      { reusePort: false, paused: false },
      {
        connection: (socket) => entrance!.#listeners.acceptTransferred('gateway', socket),
        error: assert.ifError,
      },
    )
    entrance = new Entrance(server, (cells) => new Listeners(new Map([['gateway', taker]]), cells), port)
    return entrance
  }

  async connect(): Promise<Socket> {
    const socket = connect(this.port.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }

  async untilClosed(count: number): Promise<void> {
    while (this.cells.closed < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.port.close()
    this.server.closeAllConnections()
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve))
  }
}

const endings: Record<string, (socket: Socket) => void> = {
  'an answer with connection: close': () => {},
  'destroy()': (socket) => socket.destroy(),
  'resetAndDestroy()': (socket) => socket.resetAndDestroy(),
  'both, one after the other': (socket) => void socket.destroy().resetAndDestroy(),
}

for (const [name, end] of Object.entries(endings)) {
  test(`a connection that ends by ${name} is counted once`, async () => {
    const server = createServer((request, response) => {
      response.setHeader('connection', 'close')
      response.end()
      end(request.socket)
    })
    await using entrance = await Entrance.open(server)
    const client = request({ port: entrance.port.port, agent: false }).on('error', () => {})
    client.end()
    await once(client, 'close')
    await entrance.untilClosed(1)
    assert.equal(entrance.cells.closed, 1)
  })
}

test('a connection that its client closes or resets is counted as closed', async () => {
  await using entrance = await Entrance.open(createServer())
  ;(await entrance.connect()).end()
  await entrance.untilClosed(1)
  ;(await entrance.connect()).resetAndDestroy()
  await entrance.untilClosed(2)
})

test('a connection above maxConnections is counted as closed', async () => {
  const server = createServer()
  server.maxConnections = 1
  using folder = new TestFolder()
  const path = folder.at('program')
  const taker = new PrivateListener(server, { path, address: { address: '127.0.0.1', family: 'IPv4', port: 3000 } })
  await once(server.listen(path), 'listening')
  await using entrance = await Entrance.open(server, taker)
  const first = await entrance.connect()
  const second = await entrance.connect()
  await once(second.resume(), 'close')
  await entrance.untilClosed(1)
  first.destroy()
  await entrance.untilClosed(2)
})

test('a connection to a closed server is closed and counted', async () => {
  const server = createServer()
  await using entrance = await Entrance.open(server)
  server.close()
  await once(server, 'close')
  const socket = await entrance.connect()
  await once(socket.resume(), 'close')
  assert.equal(entrance.cells.closed, 1)
})
