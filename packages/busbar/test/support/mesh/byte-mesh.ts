import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RequestListener, Server } from 'node:http'
import { captureConnections } from '../../../src/mesh/sockets/capture.ts'
import { addHopsHeaders } from '../../../src/mesh/sockets/hops-header.ts'
import type { Exchanges, MeshContext } from '../../../src/mesh/mesh-context.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/instance/served-instance.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { exchanges, streams } from './accelerators.ts'
import { TestEndpoint } from './test-endpoint.ts'
import { linkedEndpoint } from './linked-endpoint.ts'

/**
 * Set by tests that rerun others with each service in another worker. `toHost`: that worker belongs
 * to another app.
 */
export const way = { overLink: false, toHost: false }

/** The mesh with connections only, so that clients with a faster way use them too. */
export class ByteMesh implements MeshContext, AsyncDisposable {
  readonly router: Router
  readonly maxHops: number
  readonly streams = streams
  readonly exchanges: Exchanges | undefined
  readonly endpoints = new Map<string, TestEndpoint>()
  readonly #overLink: boolean
  readonly #toHost: boolean
  readonly #installed = new AsyncDisposableStack()

  /** `names`: services without an endpoint. */
  constructor(
    services: Record<string, Server | RequestListener>,
    options: { maxHops?: number; names?: string[]; overLink?: boolean; toHost?: boolean } = {},
  ) {
    this.router = new Router([...Object.keys(services), ...(options.names ?? [])])
    this.maxHops = options.maxHops ?? 8
    this.#toHost = options.toHost ?? way.toHost
    this.#overLink = this.#toHost || (options.overLink ?? way.overLink)
    this.exchanges = this.#toHost ? exchanges : undefined
    this.#installed.use(captureConnections(this))
    this.#installed.use(addHopsHeaders(this.router))
    this.#installed.use(servePrivateSockets(this))
    for (const [service, program] of Object.entries(services)) this.add(service, program)
  }

  add(service: string, program: Server | RequestListener): TestEndpoint {
    const endpoint = new TestEndpoint(service, program)
    this.#installed.use(endpoint)
    if (this.#overLink) {
      const linked = this.#installed.use(linkedEndpoint(endpoint, undefined, this.maxHops))
      this.router.addRemote(this.#toHost ? Object.assign(linked, { host: 'tcp:the other app' }) : linked)
    } else this.router.add(endpoint)
    this.endpoints.set(service, endpoint)
    return endpoint
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#installed.disposeAsync()
    // Clients that share connections between tests, such as the global agent, see in the next turns
    // that theirs ended.
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
}
