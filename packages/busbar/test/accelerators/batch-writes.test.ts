import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { gatherWrites } from '../../src/accelerators/batch-writes/gather-writes.ts'
import { giveConnections } from '../../src/mesh/sockets/given-connections.ts'
import { selfSigned } from '../support/certificate.ts'

/** Milliseconds, for whoever asks how late it is: a busy machine does not change what is tested. */
let time = 0
beforeEach(() => void mock.method(performance, 'now', () => time))

describe('what the connections of a thread write in one turn of its event loop', () => {
  it('leaves at once where it is the first of the turn, and all the rest when the turn is over', async () => {
    await using lines = await Lines.open(8)
    await lines.becomeBusy()
    for (const { near } of lines.all) near.write('answer')
    assert.deepEqual(
      lines.all.map(({ near }) => waits(near)),
      [false, true, true, true, true, true, true, true],
    )
    await turn()
    assert.ok(lines.all.every(({ near }) => !waits(near)))
    await lines.hangUp()
    for (const { heard } of lines.all) assert.match(await heard, /^\.+answer$/)
  })

  it('leaves at once where only few write in a turn', async () => {
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

  it('leaves at once for a while after something blocked the loop while it waited, for longer each time', async () => {
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

  it('does not wait for answers that take long to make', async () => {
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

describe('a connection whose writes are gathered', () => {
  it('sends in the order of writing, whatever is too large to wait', async () => {
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
    assert.match(await line.heard, /^\.+small l{100000} bytes corked together\.$/)
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
      assert.match(await line.heard, /^\.+the last words$/)
    })

  it('has sent what it wrote when its thread exits in the same turn', async () => {
    const thread = new Worker(new URL('programs/answers-and-exits.ts', import.meta.url), { workerData: 8 })
    const [port] = (await once(thread, 'message')) as [number]
    const exited = once(thread, 'exit')
    const clients = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').end('hello'))
    assert.deepEqual(await Promise.all(clients.map(text)), Array(8).fill('answer'))
    await exited
  })

  it('sends the bytes that were there when they were written', async () => {
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
    assert.match(await line.heard, /^\.+good and better$/)
  })

  it('makes its program wait for a client that does not read', async () => {
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

  it('runs callbacks in the async context of who wrote, and errors in the one of the connection', async () => {
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

describe('what is given to a server of HTTP', () => {
  it('has its writes gathered', async () => {
    await using entrance = await Entrance.open((listener) => createHttpServer(listener))
    const clients = await entrance.clients((port) => connect(port, '127.0.0.1'), 'connect')
    for (let round = 0; round < 200 && entrance.together < 2; round++) await entrance.ask(clients)
    assert.ok(entrance.together >= 2)
  })

  it('has not where it speaks TLS, and answers whatever comes while an answer is underway', async () => {
    const { cert, key } = await selfSigned()
    await using entrance = await Entrance.open((listener) => createHttpsServer({ cert, key }, listener))
    const clients = await entrance.clients((port) => connectTls({ port, host: '127.0.0.1', ca: cert }), 'secureConnect')
    for (let round = 0; round < 200; round++) await entrance.ask(clients)
    assert.equal(entrance.together, 0)
  })
})

interface Line {
  /** Writes, and is gathered. */
  readonly near: Socket
  readonly far: Socket
  /** All that comes, when it has ended. */
  readonly heard: Promise<string>
}

/** Connections between this process and itself. */
class Lines implements AsyncDisposable {
  readonly all: readonly Line[]
  readonly #server: Server

  private constructor(server: Server, all: readonly Line[]) {
    this.#server = server
    this.all = all
  }

  static async open(count: number): Promise<Lines> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => socket.on('error', () => {}))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const lines: Line[] = []
    for (let at = 0; at < count; at++) {
      const far = connect(port, '127.0.0.1')
      far.on('error', () => {})
      const [near] = (await once(server, 'connection')) as [Socket]
      gatherWrites(near)
      lines.push({ near, far, heard: heardBy(far) })
    }
    return new Lines(server, lines)
  }

  /** So that the next turn is one whose writes are gathered, whatever was before. */
  async becomeBusy(): Promise<void> {
    for (let gathers = false; !gathers;) {
      await turn()
      for (const { near } of this.all) near.write('.')
      gathers = this.all.slice(1).every(({ near }) => waits(near))
      await turn()
    }
  }

  /** How many there are before one in which something waits. */
  async turnsAtOnce(): Promise<number> {
    for (let turns = 0; ; turns++) {
      for (const { near } of this.all) near.write('.')
      if (this.all.some(({ near }) => waits(near))) return turns
      await turn()
    }
  }

  /** One of them, in a turn in which another has written. */
  async busyOne(): Promise<Line> {
    await this.becomeBusy()
    this.all[0]!.near.write('.')
    return this.all[1]!
  }

  async hangUp(): Promise<void> {
    for (const { near } of this.all) near.end()
    await Promise.all(this.all.map(({ heard }) => heard))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { near, far } of this.all) for (const socket of [near, far]) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function heardBy(far: Socket): Promise<string> {
  let all = ''
  far.setEncoding('latin1').on('data', (more: string) => (all += more))
  return new Promise((resolve) => far.once('close', () => resolve(all)))
}

/** Whether something of it was written and has not been given to the kernel. */
function waits(socket: Socket): boolean {
  const { _bytesDispatched: left } = socket as Socket & { _bytesDispatched: number }
  return left < socket.bytesWritten
}

/** A server without a port, which is handed what comes to one. */
class Entrance implements AsyncDisposable {
  readonly #server: HttpServer
  readonly #listener: Server
  readonly #clients: Socket[] = []
  /** At most so many answers of a round were waiting when another had been given. */
  together = 0

  private constructor(serve: (listener: RequestListener) => HttpServer) {
    const answered: Socket[] = []
    this.#server = serve((req, res) => {
      res.end('answer')
      answered.push(req.socket)
      this.together = Math.max(this.together, answered.filter(waits).length)
    })
    const given = giveConnections(this.#server)
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      gatherWrites(socket)
      given.accept(socket)
    })
  }

  static async open(serve: (listener: RequestListener) => HttpServer): Promise<Entrance> {
    const entrance = new Entrance(serve)
    await once(entrance.#listener.listen(0, '127.0.0.1'), 'listening')
    return entrance
  }

  async clients(open: (port: number) => Socket, ready: string): Promise<readonly Socket[]> {
    const { port } = this.#listener.address() as AddressInfo
    for (let at = 0; at < 8; at++) this.#clients.push(open(port))
    await Promise.all(this.#clients.map((client) => once(client, ready)))
    return this.#clients
  }

  /** All at a time. */
  async ask(clients: readonly Socket[]): Promise<void> {
    const answers = clients.map((client) => once(client, 'data'))
    for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    for (const [data] of await Promise.all(answers)) assert.match(String(data), /^HTTP\/1.1 200 [^]*answer/)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It counts the connections that it has handed over as its own, and would wait for them.
    this.#listener.close()
    for (const client of this.#clients) client.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
