import type { RequestListener } from 'node:http'
import { startMesh } from '../../../src/mesh/mesh.ts'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { exchanges, streams } from './accelerators.ts'
import { linkedEndpoint } from './linked-endpoint.ts'
import { TestEndpoint } from './test-endpoint.ts'

/** Calls that pass on calls. */
export const maxHops = 5

/** Instances of one service, each over a link of its own. */
export class RemoteInstances implements AsyncDisposable {
  readonly router = new Router(['callee'])
  readonly endpoints: (RemoteEndpoint & Disposable)[] = []
  readonly #stack = new AsyncDisposableStack()

  async add(program: RequestListener): Promise<RemoteEndpoint> {
    const endpoint = this.#stack.use(linkedEndpoint(this.#stack.use(new TestEndpoint('callee', program))))
    this.endpoints.push(endpoint)
    this.router.addRemote(endpoint)
    return endpoint
  }

  async mesh(): Promise<void> {
    this.#stack.use(await startMesh({ router: this.router, maxHops, exchanges, streams }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}
