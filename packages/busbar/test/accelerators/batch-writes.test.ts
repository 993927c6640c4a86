import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { selfSigned } from '../support/http/certificate.ts'
import { Lines, BatchingServer, waits } from './support/batched-lines.ts'

/** Mocked clock, in milliseconds: the load of the machine must not affect the tests. */
let time = 0
beforeEach(() => void mock.method(performance, 'now', () => time))

describe('the writes of a thread’s connections in one turn of the event loop', () => {
  it('are sent at once if first in the turn, and otherwise at the end of the turn', async () => {
    await using lines = await Lines.open(8)
    await lines.becomeBusy()
    for (const { near } of lines.all) near.write('answer')
    assert.deepEqual(
      lines.all.map(({ near }) => waits(near)),
      [false, true, true, true, true, true, true, true],
    )
    await turn()
    assert.ok(lines.all.every(({ near }) => !waits(near)))
    await lines.endAll()
    for (const { received } of lines.all) assert.match(await received, /^\.+answer$/)
  })

  it('are sent at once if there are few in a turn', async () => {
    await using lines = await Lines.open(8)
    await lines.becomeBusy()
    const [one, other] = lines.all
    for (let at = 0; at < 5; at++) {
      one!.near.write('x')
      other!.near.write('x')
      await turn()
    }
    one!.near.write('x')
    other!.near.write('x')
    assert.equal(waits(other!.near), false)
  })

  it('are sent at once for a while after the loop was blocked, for longer each time', async () => {
    await using lines = await Lines.open(8)
    const atOnce: number[] = []
    for (let blocks = 0; blocks < 5; blocks++) {
      await lines.becomeBusy()
      for (const { near } of lines.all) near.write('x')
      time += 20
      await turn()
      atOnce.push(await lines.turnsAtOnce())
    }
    assert.ok(atOnce[0]! >= 20)
    for (let next = 1; next < atOnce.length; next++) assert.ok(atOnce[next]! > 1.5 * atOnce[next - 1]!)
  })

  it('do not wait for slow responses', async () => {
    await using lines = await Lines.open(8)
    await lines.becomeBusy()
    const [, first, second] = lines.all
    for (const { near } of lines.all.slice(0, 2)) near.write('x')
    assert.equal(waits(first!.near), true)
    time += 2
    second!.near.write('x')
    assert.equal(waits(first!.near), false)
  })
})

describe('a connection with batched writes', () => {
  it('sends in order, also with writes that are too large to wait', async () => {
    await using lines = await Lines.open(8)
    const line = await lines.busyOne()
    line.near.write('small ')
    line.near.write('l'.repeat(100_000))
    line.near.write(Buffer.from(' bytes '))
    line.near.cork()
    line.near.write('corked ')
    line.near.write(Buffer.from('together'))
    line.near.uncork()
    line.near.end('.')
    assert.match(await line.received, /^\.+small l{100000} bytes corked together\.$/)
  })

  for (const [how, end] of Object.entries<(socket: Socket) => void>({
    'end()': (socket) => socket.end(),
    'destroySoon()': (socket) => socket.destroySoon(),
    'destroy()': (socket) => socket.destroy(),
  }))
    it(`has sent what it wrote before ${how}`, async () => {
      await using lines = await Lines.open(8)
      const line = await lines.busyOne()
      line.near.write('the last words')
      end(line.near)
      assert.match(await line.received, /^\.+the last words$/)
    })

  it('has sent what it wrote when its thread exits in the same turn', async () => {
    const thread = new Worker(new URL('programs/answers-and-exits.ts', import.meta.url), { workerData: 8 })
    const [port] = (await once(thread, 'message')) as [number]
    const exited = once(thread, 'exit')
    const clients = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').end('hello'))
    assert.deepEqual(await Promise.all(clients.map(text)), Array(8).fill('answer'))
    await exited
  })

  it('sends the bytes as they were at the time of the write', async () => {
    await using lines = await Lines.open(8)
    const line = await lines.busyOne()
    const bytes = Buffer.from('good')
    line.near.write(bytes, () => void bytes.fill('x'))
    line.near.cork()
    const others = [Buffer.from(' and'), Buffer.from(' better')]
    for (const other of others) line.near.write(other, () => void other.fill('x'))
    line.near.uncork()
    await turn()
    line.near.end()
    assert.match(await line.received, /^\.+good and better$/)
  })

  it('applies backpressure for a client that does not read', async () => {
    await using lines = await Lines.open(8)
    const { near, far } = await lines.busyOne()
    far.pause()
    const piece = 'p'.repeat(8 * 1024)
    let written = near.bytesWritten
    for (let goesOn = true; goesOn && written < 64 * 1024 * 1024; written += piece.length) {
      for (const other of lines.all) if (other.near !== near) other.near.write('.')
      goesOn = near.write(piece)
      await turn()
    }
    assert.equal(near.writableNeedDrain, true)
    const received = buffer(far)
    await once(near, 'drain')
    near.end()
    await received
    assert.deepEqual([near.bytesWritten, far.bytesRead], [written, written])
  })

  it('runs callbacks in the writer’s async context, and errors in the connection’s', async () => {
    const context = new AsyncLocalStorage<string>()
    await using lines = await context.run('connection', () => Lines.open(8))
    const { near, far } = await lines.busyOne()
    const seen: unknown[] = []
    context.run('writer', () => near.write('x', () => seen.push(context.getStore())))
    context.run('other', () => lines.all[2]!.near.write('x', () => seen.push(context.getStore())))
    await turn()
    assert.deepEqual(seen, ['writer', 'other'])
    near.pause()
    far.resetAndDestroy()
    const failed = new Promise((resolve) => near.once('error', () => resolve(context.getStore())))
    while (!near.destroyed) {
      for (const each of lines.all) if (!each.near.destroyed) context.run('writer', () => void each.near.write('x'))
      await turn()
    }
    assert.equal(await failed, 'connection')
  })
})

describe('a connection of an HTTP server', () => {
  it('has batched writes', async () => {
    await using server = await BatchingServer.open((listener) => createHttpServer(listener))
    const clients = await server.clients((port) => connect(port, '127.0.0.1'), 'connect')
    for (let round = 0; round < 200 && server.together < 2; round++) await server.ask(clients)
    assert.ok(server.together >= 2)
  })

  it('has none over TLS, and answers requests while a response is being sent', async () => {
    const { cert, key } = await selfSigned()
    await using server = await BatchingServer.open((listener) => createHttpsServer({ cert, key }, listener))
    const clients = await server.clients((port) => connectTls({ port, host: '127.0.0.1', ca: cert }), 'secureConnect')
    for (let round = 0; round < 200; round++) await server.ask(clients)
    assert.equal(server.together, 0)
  })
})
