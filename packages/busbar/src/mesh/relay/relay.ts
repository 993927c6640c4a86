/**
 * Takes the connections of the private ports on which programs outside of the workers call services, and leads each into the
 * mesh: whatever holds for a connection that a program in a worker makes holds for these.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallAccess, CallPort } from '../../shared/call-access.ts'
import type { StopTimes } from '../../shared/control.ts'
import { type ConnectionTaker, giveConnections } from '../sockets/given-connections.ts'
import type { HttpMesh } from '../mesh.ts'
import { connectionRefused } from '../refusals.ts'
import { readFirstLine } from '../sockets/first-line.ts'
import { type AskedRefusal, maxPreamble, type Preamble, readPreamble } from './preamble.ts'
import { RelayedConnection, type RelayTarget } from './relayed-connection.ts'

/** Milliseconds that a connection may take to say what it is. */
const preambleTime = 10_000

/** Milliseconds between two looks at what is quiet. */
const lookInterval = 20
/** Of the time to stop: then no connection is kept. */
const lastPart = 0.1

export class CallRelay {
  readonly #mesh: HttpMesh
  readonly #token: Buffer
  readonly #listeners: ReadonlyMap<string, ConnectionTaker>
  readonly #waiting = new Set<Socket>()
  readonly #connections = new Set<RelayedConnection>()
  #isStopping = false

  constructor(mesh: HttpMesh, { ports, token }: CallAccess) {
    this.#mesh = mesh
    this.#token = Buffer.from(token)
    this.#listeners = new Map(ports.map((port) => [port.id, this.#listen(port)]))
  }

  /** What takes the connections of each port, by its id. */
  get listeners(): ReadonlyMap<string, ConnectionTaker> {
    return this.#listeners
  }

  get isBusy(): boolean {
    return this.#connections.size > 0
  }

  /**
   * Closes connections as they become quiet for `quiet` milliseconds, and the rest when the time is over. What they carry is
   * not read, so that an answer which pauses looks like a connection that is kept. Those that are never quiet are closed
   * towards the end, between an answer and the next request.
   */
  async stop({ timeout, quiet }: StopTimes): Promise<void> {
    this.#isStopping = true
    for (const socket of this.#waiting) socket.destroy()
    const deadline = performance.now() + timeout
    for (let left = timeout; this.#connections.size > 0 && left > 0; left = deadline - performance.now()) {
      const patience = left < lastPart * timeout ? 0 : quiet
      for (const connection of this.#connections) if (connection.isQuiet(patience)) connection.close()
      if (this.#connections.size > 0) await sleep(Math.min(left, lookInterval))
    }
    for (const connection of this.#connections) connection.destroy()
  }

  #listen({ port, route }: CallPort): ConnectionTaker {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      if (this.#isStopping) socket.destroy()
      else if (route === undefined) void this.#identify(socket)
      else this.#connect(socket, { ...route, port, hops: 1 })
    })
    return giveConnections(server)
  }

  async #identify(socket: Socket): Promise<void> {
    this.#waiting.add(socket)
    const ignore = (): void => {}
    socket.on('error', ignore)
    const line = await readFirstLine(socket, maxPreamble, preambleTime)
    this.#waiting.delete(socket)
    const preamble = line === undefined ? undefined : readPreamble(line)
    if (preamble === undefined || !this.#isTrusted(preamble) || socket.destroyed) return void socket.destroy()
    if (preamble.verb === 'ask') return void socket.end(`${JSON.stringify(this.#refusalOf(preamble))}\n`)
    this.#connect(socket, { ...preamble, hops: preamble.hops + 1 })
    socket.off('error', ignore)
  }

  #isTrusted({ token }: Preamble): boolean {
    const said = Buffer.from(token)
    return said.length === this.#token.length && timingSafeEqual(said, this.#token)
  }

  #refusalOf({ service, port }: Preamble): AskedRefusal | null {
    const { router } = this.#mesh
    if (router.serves(service)) return null
    const { message, code } = connectionRefused(router, service, port)
    return { message, code }
  }

  #connect(socket: Socket, target: RelayTarget): void {
    const connection = new RelayedConnection(socket, this.#mesh, target)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }
}
