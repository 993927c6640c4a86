import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeListener } from '../../../src/gateway/typed/adapters/index.ts'

/** A `node:http` server with the listener of a typed service. */
export class ListeningServer implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #listener: NodeListener

  private constructor(server: Server, listener: NodeListener) {
    this.#server = server
    this.#listener = listener
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(listener: NodeListener): Promise<ListeningServer> {
    const server = createServer(listener)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new ListeningServer(server, listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.#listener[Symbol.asyncDispose]()
  }
}
