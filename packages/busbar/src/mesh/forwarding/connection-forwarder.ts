/**
 * Accepts the connections of programs outside the workers, on private ports, and forwards them into
 * the mesh. They behave like connections of a program in a worker.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallAccess, CallPort } from '../../shared/calls/call-access.ts'
import { shortTurn } from '../../shared/time/short-turn.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { MeshContext } from '../mesh-context.ts'
import { connectionRefused } from '../routing/unreachable.ts'
import { type ConnectionSink, toConnectionSink } from '../sockets/instance/connection-sink.ts'
import { readFirstLine } from '../sockets/first-bytes.ts'
import {
  type ForwardRefusal,
  type ForwardRequest,
  maxForwardRequest,
  readForwardRequest,
} from '../../shared/calls/forward-request.ts'
import { ForwardedConnection, type ForwardTarget } from './forwarded-connection.ts'

/** Milliseconds that a connection may take to send its request. */
const requestTimeout = 10_000

/** Milliseconds between two checks for idle connections. */
const checkInterval = 20
/**
 * In this last share of the stop timeout, every connection without a pending response is closed.
 */
const lastShare = 0.1

export class ConnectionForwarder {
  readonly #mesh: MeshContext
  readonly #token: Buffer
  readonly #listeners: ReadonlyMap<string, ConnectionSink>
  readonly #waiting = new Set<Socket>()
  readonly #connections = new Set<ForwardedConnection>()
  #isStopping = false

  constructor(mesh: MeshContext, { ports, token }: CallAccess) {
    this.#mesh = mesh
    this.#token = Buffer.from(token)
    this.#listeners = new Map(ports.map((port) => [port.id, this.#listen(port)]))
  }

  /** By the id of the port. */
  get listeners(): ReadonlyMap<string, ConnectionSink> {
    return this.#listeners
  }

  get isBusy(): boolean {
    return this.#connections.size > 0
  }

  /**
   * Each connection ends with the response to its next request, or when it is idle for `quiet`
   * milliseconds; the rest end after `timeout`. The forwarder does not parse what connections
   * carry, so it cannot tell a response that pauses from a keep-alive connection. Those of other
   * protocols that are never idle are closed towards the end, between two messages.
   */
  async stop({ timeout, quiet }: StopTimes): Promise<void> {
    this.#isStopping = true
    for (const socket of this.#waiting) socket.destroy()
    for (const connection of this.#connections) connection.end()
    const deadline = performance.now() + timeout
    for (let left = timeout; this.#connections.size > 0 && left > 0; left = deadline - performance.now()) {
      await shortTurn((lastShare * timeout) / 2)
      const idleTime = left < lastShare * timeout ? 0 : quiet
      for (const connection of this.#connections) if (connection.isIdle(idleTime)) connection.close()
      if (this.#connections.size > 0) await sleep(Math.min(left, checkInterval))
    }
    for (const connection of this.#connections) connection.destroy()
  }

  #listen({ port, route }: CallPort): ConnectionSink {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      if (this.#isStopping) socket.destroy()
      else if (route === undefined) void this.#readRequest(socket)
      else this.#forward(socket, { ...route, port, hops: 1 })
    })
    return toConnectionSink(server)
  }

  async #readRequest(socket: Socket): Promise<void> {
    this.#waiting.add(socket)
    const ignore = (): void => {}
    socket.on('error', ignore)
    const line = await readFirstLine(socket, maxForwardRequest, requestTimeout)
    this.#waiting.delete(socket)
    const request = line === undefined ? undefined : readForwardRequest(line)
    if (request === undefined || !this.#isTrusted(request) || socket.destroyed) return void socket.destroy()
    if (request.verb === 'ask') return void socket.end(`${JSON.stringify(this.#refusalOf(request))}\n`)
    this.#forward(socket, { ...request, hops: request.hops + 1 })
    socket.off('error', ignore)
  }

  #isTrusted({ token }: ForwardRequest): boolean {
    const given = Buffer.from(token)
    return given.length === this.#token.length && timingSafeEqual(given, this.#token)
  }

  #refusalOf({ service, port }: ForwardRequest): ForwardRefusal | null {
    const { router } = this.#mesh
    if (router.serves(service)) return null
    const { message, code } = connectionRefused(router, service, port)
    return { message, code }
  }

  #forward(socket: Socket, target: ForwardTarget): void {
    const connection = new ForwardedConnection(socket, this.#mesh, target)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }
}
