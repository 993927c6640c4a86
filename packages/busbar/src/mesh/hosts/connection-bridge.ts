/**
 * Lets clients that need a system socket reach a service of another app: a private socket of this
 * worker, whose connections go over the link as calls of kind `bytes`.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { refuseConnection } from '../http/problem-response.ts'
import type { CallHead, Link } from '../links/link.ts'
import { readFirstLine } from '../sockets/first-bytes.ts'
import { type ConnectionPreamble, maxPreamble, readPreamble } from '../sockets/instance/preamble.ts'
import { PipedConnection, resetConnection } from './piped-connection.ts'

/** Milliseconds that a connection may take to send its preamble. */
const preambleTimeout = 10_000

export class ConnectionBridge {
  readonly path: string
  readonly #service: string
  readonly #link: () => Link | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(path: string, service: string, link: () => Link | undefined) {
    this.path = path
    this.#service = service
    this.#link = link
    this.#server = createServer({ allowHalfOpen: true }, (socket) => void this.#accept(socket))
  }

  /** `link` returns the current link. Rejects with Node's error if the path cannot be opened. */
  static async open(path: string, service: string, link: () => Link | undefined): Promise<ConnectionBridge> {
    const bridge = new ConnectionBridge(path, service, link)
    bridge.#server.listen({ path })
    await once(bridge.#server, 'listening')
    // A client whose connection cannot be accepted gets an error of its own.
    bridge.#server.on('error', () => {})
    bridge.#server.unref()
    return bridge
  }

  /** Connections that are open end with their calls. */
  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #accept(socket: Socket): Promise<void> {
    const ignore = (): void => {}
    socket.on('error', ignore)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const line = await readFirstLine(socket, maxPreamble, preambleTimeout)
    const preamble = line === undefined ? undefined : readPreamble(line)
    const link = this.#link()
    if (preamble === undefined || link === undefined || socket.destroyed) return resetConnection(socket)
    this.#open(link, socket, preamble)
  }

  #open(link: Link, socket: Socket, { hops, caller, callerPort, port }: ConnectionPreamble): void {
    const service = this.#service
    const connection = new PipedConnection(socket, 'caller', ({ message }) =>
      refuseConnection(socket, service, message),
    )
    const channel = link.open(headOf(service, hops, caller), [callerPort, port], false, connection)
    connection.start(channel)
  }
}

function headOf(service: string, hops: number, caller: string | undefined): CallHead {
  const rest = { timeLeft: undefined, trace: undefined, metadata: undefined }
  return { service, kind: 'bytes', method: '', hops, caller, ...rest }
}
