import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RequestListener, Server } from 'node:http'
import { captureConnections } from '../../src/mesh/sockets/capture.ts'
import { announceHops } from '../../src/mesh/sockets/announce-hops.ts'
import type { HttpMesh } from '../../src/mesh/mesh.ts'
import { servePrivateSockets } from '../../src/mesh/sockets/served-instance.ts'
import { Router } from '../../src/mesh/router.ts'
import { streams } from './accelerated.ts'
import { TestEndpoint } from './endpoint.ts'
import { elsewhere } from './linked.ts'

/** Set by tests that run others with each service in another worker. */
export const way = { overLink: false }

/** Only the byte-stream way of the mesh, so that clients with a faster way take this one too. */
export class ByteMesh implements HttpMesh, AsyncDisposable {
  readonly router: Router
  readonly maxHops: number
  readonly streams = streams
  readonly endpoints = new Map<string, TestEndpoint>()
  readonly #overLink: boolean
  readonly #installed = new AsyncDisposableStack()

  /** `names`: services that no endpoint has been added for. */
  constructor(
    services: Record<string, Server | RequestListener>,
    options: { maxHops?: number; names?: string[]; overLink?: boolean } = {},
  ) {
    this.router = new Router([...Object.keys(services), ...(options.names ?? [])])
    this.maxHops = options.maxHops ?? 8
    this.#overLink = options.overLink ?? way.overLink
    this.#installed.use(captureConnections(this))
    this.#installed.use(announceHops(this.router))
    this.#installed.use(servePrivateSockets(this))
    for (const [service, program] of Object.entries(services)) this.add(service, program)
  }

  add(service: string, program: Server | RequestListener): TestEndpoint {
    const endpoint = new TestEndpoint(service, program)
    this.#installed.use(endpoint)
    if (this.#overLink) this.router.addRemote(this.#installed.use(elsewhere(endpoint, undefined, this.maxHops)))
    else this.router.add(endpoint)
    this.endpoints.set(service, endpoint)
    return endpoint
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#installed.disposeAsync()
    // Clients that keep connections for all tests of a file, such as the global agent, hear in the next turns that theirs ended.
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
}
