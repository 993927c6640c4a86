import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, Server as HttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { batchWrites } from '../../../src/accelerators/batch-writes/batch-writes.ts'
import { toConnectionSink } from '../../../src/mesh/sockets/instance/connection-sink.ts'

export interface Line {
  /** Writes in batches. */
  readonly near: Socket
  readonly far: Socket
  /** All that arrives, when the connection has ended. */
  readonly received: Promise<string>
}

/** Connections within this process. */
export class Lines implements AsyncDisposable {
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
      batchWrites(near)
      lines.push({ near, far, received: allDataOf(far) })
    }
    return new Lines(server, lines)
  }

  /** Makes the next turn one with batched writes. */
  async becomeBusy(): Promise<void> {
    for (let isBatching = false; !isBatching;) {
      await turn()
      for (const { near } of this.all) near.write('.')
      isBatching = this.all.slice(1).every(({ near }) => waits(near))
      await turn()
    }
  }

  /** Number of turns before one in which a write waits. */
  async turnsAtOnce(): Promise<number> {
    for (let turns = 0; ; turns++) {
      for (const { near } of this.all) near.write('.')
      if (this.all.some(({ near }) => waits(near))) return turns
      await turn()
    }
  }

  /** A connection, in a turn in which another has written. */
  async busyOne(): Promise<Line> {
    await this.becomeBusy()
    this.all[0]!.near.write('.')
    return this.all[1]!
  }

  async endAll(): Promise<void> {
    for (const { near } of this.all) near.end()
    await Promise.all(this.all.map(({ received }) => received))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { near, far } of this.all) for (const socket of [near, far]) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function allDataOf(far: Socket): Promise<string> {
  let all = ''
  far.setEncoding('latin1').on('data', (more: string) => (all += more))
  return new Promise((resolve) => far.once('close', () => resolve(all)))
}

/** True if the socket has written data that was not passed to the kernel. */
export function waits(socket: Socket): boolean {
  const { _bytesDispatched: left } = socket as Socket & { _bytesDispatched: number }
  return left < socket.bytesWritten
}

/** An HTTP server that gets its connections from a listener with batched writes. */
export class BatchingServer implements AsyncDisposable {
  readonly #server: HttpServer
  readonly #listener: Server
  readonly #clients: Socket[] = []
  /** Largest number of responses that waited together. */
  together = 0

  private constructor(serve: (listener: RequestListener) => HttpServer) {
    const answered: Socket[] = []
    this.#server = serve((req, res) => {
      res.end('answer')
      answered.push(req.socket)
      this.together = Math.max(this.together, answered.filter(waits).length)
    })
    const given = toConnectionSink(this.#server)
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      batchWrites(socket)
      given.accept(socket)
    })
  }

  static async open(serve: (listener: RequestListener) => HttpServer): Promise<BatchingServer> {
    const server = new BatchingServer(serve)
    await once(server.#listener.listen(0, '127.0.0.1'), 'listening')
    return server
  }

  async clients(open: (port: number) => Socket, ready: string): Promise<readonly Socket[]> {
    const { port } = this.#listener.address() as AddressInfo
    for (let at = 0; at < 8; at++) this.#clients.push(open(port))
    await Promise.all(this.#clients.map((client) => once(client, ready)))
    return this.#clients
  }

  /** Sends a request on all connections at once. */
  async ask(clients: readonly Socket[]): Promise<void> {
    const answers = clients.map((client) => once(client, 'data'))
    for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    for (const [data] of await Promise.all(answers)) assert.match(String(data), /^HTTP\/1.1 200 [^]*answer/)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The listener still counts the connections that it has passed on, and would wait for them.
    this.#listener.close()
    for (const client of this.#clients) client.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
