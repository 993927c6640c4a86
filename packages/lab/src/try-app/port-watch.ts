import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** All addresses, since services may call each other by the name of the machine. */
const everywhere = ['0.0.0.0', '::']
const attempts = 20
/** Milliseconds. */
const pause = 50

/**
 * Holds ports that others should leave alone, and aborts when something connects to one. `signal`:
 * another reason to end.
 */
export class PortWatch implements AsyncDisposable {
  readonly #servers: readonly Server[]
  readonly #touched: AbortController
  readonly signal: AbortSignal

  private constructor(servers: readonly Server[], touched: AbortController, signal: AbortSignal) {
    this.#servers = servers
    this.#touched = touched
    this.signal = AbortSignal.any([signal, touched.signal])
  }

  /** Throws if a port is in use. */
  static async begin(ports: readonly number[], signal: AbortSignal): Promise<PortWatch> {
    const touched = new AbortController()
    await using opened = new AsyncDisposableStack()
    const servers: Server[] = []
    for (const port of ports)
      for (const host of everywhere) {
        const server = createServer((socket) => {
          if (isFromHere(socket)) touched.abort(port)
          socket.destroy()
        })
        if (await listens(server, port, host)) servers.push(opened.use(server))
        // A machine may have no IPv6.
        else if (host === everywhere[0]) throw new Error(`port ${port} is in use`)
      }
    opened.move()
    return new PortWatch(servers, touched, signal)
  }

  /** The port to which something has connected. */
  get touched(): number | undefined {
    return this.#touched.signal.aborted ? (this.#touched.signal.reason as number) : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]()
  }
}

/** Not from another machine. */
function isFromHere({ remoteAddress = '' }: Socket): boolean {
  if (remoteAddress.startsWith('127.')) return true
  return Object.values(networkInterfaces()).some((found) =>
    found?.some(({ address }) => address === remoteAddress.replace(/%.*/, '')),
  )
}

/** A program that was killed holds its ports until its last thread has ended. */
async function listens(server: Server, port: number, host: string): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    server.listen({ port, host, ipv6Only: true })
    try {
      await once(server, 'listening')
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return false
    }
    await sleep(pause)
  }
  return false
}
